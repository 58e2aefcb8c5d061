import Glibc
import KalijClient
import KalijCoordination
import KalijTransport

/// Waits for the driver's work: this process drives, if no other process does.
struct DriverWait {
    private let shared: SharedOptions
    private let account: Account

    init(_ shared: SharedOptions, for account: Account) {
        self.shared = shared
        self.account = account
    }

    /// Waits until `isEnough`, for at most `seconds`.
    func wait(within seconds: Int, until isEnough: @escaping () throws -> Bool) throws {
        let deadline = Clock.system.monotonic() + Int64(seconds) * 1_000_000_000
        try wait(until: { try isEnough() || Clock.system.monotonic() >= deadline }, next: { deadline })
    }

    /// Waits until `isDone` returns true; it is called after each event and at `next`, in nanoseconds of the monotonic clock.
    func wait(until isDone: @escaping () throws -> Bool, next: @escaping () -> Int64) throws {
        try WaitForDriver(directory: shared.directory).wait(
            until: isDone, next: next, drive: { try drive(until: isDone, next: next) })
    }

    /// - Throws: `FenceError` if another process drives.
    private func drive(until isDone: @escaping () throws -> Bool, next: @escaping () -> Int64) throws {
        let look = Look(isDone, next)
        let printer = EventPrinter(json: false, verbose: shared.verbose, clock: shared.clock)
        let progress = Progress(of: account.jid.description, endsUnreached: true)
        var options = Engine.Options(role: .background)
        options.mayEnd = {
            defer { look.plan() }
            return try isDone()
        }
        let engine = try Engine(shared.directory, options: options) { [verbose = shared.verbose] event in
            if verbose { printer.printNotice(event) }
            progress.see(event)
        }
        (look.engine, progress.engine) = (engine, engine)
        defer { look.end() }
        look.plan()
        try engine.loop.watchSignals([SIGTERM, SIGINT]) { _ in exit(ExitStatus.temporaryFailure.rawValue) }
        try engine.run()
        if let failure = look.failure { throw failure }
        if progress.isUnreachable, let problem = progress.problem {
            throw Failure(.unavailable, "your server was not asked: \(problem)")
        }
    }

    /// The check at a time when no event occurs.
    private final class Look {
        weak var engine: Engine?
        private(set) var failure: (any Error)?
        private var timer: Timer?
        private let isDone: () throws -> Bool
        private let next: () -> Int64

        init(_ isDone: @escaping () throws -> Bool, _ next: @escaping () -> Int64) {
            (self.isDone, self.next) = (isDone, next)
        }

        func plan() {
            timer?.cancel()
            let seconds = Double(next() - Clock.system.monotonic()) / 1_000_000_000
            timer = engine?.loop.schedule(after: seconds) { [weak self] in self?.check() }
        }

        func end() { timer?.cancel() }

        private func check() {
            do {
                if try isDone() { engine?.stop() } else { plan() }
            } catch {
                failure = error
                engine?.stop()
            }
        }
    }
}
