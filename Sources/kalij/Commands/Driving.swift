import Glibc
import KalijClient
import KalijRoles

/// Waits for the driver's work: this process drives, if no other process does.
struct Driving {
    private let shared: SharedOptions
    private let account: Account

    init(_ shared: SharedOptions, for account: Account) {
        self.shared = shared
        self.account = account
    }

    /// Waits until `isEnough`, for at most `seconds`.
    func wait(within seconds: Int, until isEnough: @escaping () throws -> Bool) throws {
        let deadline = Clock.system.monotonic() + Int64(seconds) * 1_000_000_000
        try Waiting(directory: shared.directory).wait(
            until: { try isEnough() || Clock.system.monotonic() >= deadline }, next: { deadline },
            drive: { try drive(until: isEnough, deadline) })
    }

    /// Drives until `isEnough`.
    /// - Throws: `FenceError` if another process drives.
    private func drive(until isEnough: @escaping () throws -> Bool, _ deadline: Int64) throws {
        let printer = EventPrinter(json: false, verbose: shared.verbose)
        let budget = Double(max(0, deadline - Clock.system.monotonic())) / 1_000_000_000
        var options = Engine.Options(role: .background, budget: budget)
        options.mayEnd = isEnough
        let progress = Progress(of: account.jid.description, endsUnreached: true)
        let engine = try Engine(shared.directory, options: options) { [verbose = shared.verbose] event in
            if verbose { printer.note(event) }
            progress.see(event)
        }
        progress.engine = engine
        try engine.loop.watchSignals([SIGTERM, SIGINT]) { _ in exit(ExitStatus.tryAgain.rawValue) }
        try engine.run()
        if progress.isGivenUp, let problem = progress.problem {
            throw Failure(.unavailable, "your server was not asked: \(problem)")
        }
    }
}
