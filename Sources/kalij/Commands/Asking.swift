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
        try Driving(shared).wait(within: seconds + 5) { try questions.question(id)?.outcome != nil }
        guard let question = try questions.question(id) else {
            throw Failure(.badConfiguration, "the account is gone")
        }
        return finish(question)
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
}
