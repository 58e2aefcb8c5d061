import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijStore
import KalijXML

/// Asks a question and waits for what becomes of it.
struct Asking {
    private let shared: SharedOptions

    init(_ shared: SharedOptions) { self.shared = shared }

    /// Accepts `request`, sees that it is sent, and waits for the answer.
    /// - Parameter finish: gets the question as it is when the waiting ends, answered or not.
    func ask(
        _ request: Element, of jid: JID?, within seconds: Int, _ finish: (Questions.Question) -> ExitStatus
    ) throws -> ExitStatus {
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let questions = Questions(database)
        let id = try accept(request, of: jid, in: database, within: seconds)
        // What times out is told by who drives, a moment later.
        let deadline = Clock.system.monotonic() + Int64(seconds + 5) * 1_000_000_000
        while true {
            guard let question = try questions.question(id) else {
                throw Failure(.badConfiguration, "the account is gone")
            }
            if question.outcome != nil || Clock.system.monotonic() > deadline { return finish(question) }
            if try !drive(until: { try questions.question(id)?.outcome != nil }, deadline) {
                usleep(50_000)  // another process drives and stores the answer
            }
        }
    }

    private func accept(_ request: Element, of jid: JID?, in database: Database, within seconds: Int) throws -> Int64 {
        let account = try AccountTable(database).account(jid, in: shared.directory)
        guard account.state == .active else { throw Failure(.badConfiguration, "\(account.jid) is logged out") }
        // Held before the commit and let go after it, so that the driver looks even if this process dies in between.
        let bell = Doorbell.bell(directory: shared.directory.path)
        defer { _ = consume bell }
        return try Questions(database).ask(
            request, of: account, now: Clock.system.now(), within: .seconds(seconds))
    }

    /// Drives until `isEnough`; false if another process drives.
    private func drive(until isEnough: @escaping () throws -> Bool, _ deadline: Int64) throws -> Bool {
        let printer = EventPrinter(json: false, verbose: shared.verbose)
        let budget = Double(max(0, deadline - Clock.system.monotonic())) / 1_000_000_000
        var options = Engine.Options(role: .background, budget: budget)
        options.mayEnd = isEnough
        do {
            let engine = try Engine(shared.directory, options: options) { [verbose = shared.verbose] event in
                if verbose { printer.print(event) }
            }
            try engine.loop.watchSignals([SIGTERM, SIGINT]) { _ in exit(ExitStatus.tryAgain.rawValue) }
            try engine.run()
            return true
        } catch is FenceError {
            return false
        }
    }
}
