import KalijCore
import KalijFeatures
import KalijHandlers
import KalijTransport

/// The objects that the drivers of all accounts share. Lives on the engine's thread.
final class DriverContext {
    let loop: any Scheduler
    /// Creates a connection for an account. The caller opens it.
    let connect: (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    /// A random number from 0 up to but not including 1.
    let random: () -> Double
    let runner: StepRunner
    let timing: Timing
    private let report: (EngineEvent) -> Void
    private let fatal: (any Error) -> Void
    private let changed: () -> Void
    /// Called when a notification is pending.
    var notified: () -> Void = {}
    /// Indexes stored texts; nil in a process whose time is short.
    var indexing: SearchIndexer?
    /// Transfers files; nil in a process that never does.
    var files: FileEnvironment?
    /// When this process has to end, on the loop's clock; nil without a limit.
    var end: Double?
    /// Called when another process blocks the writes of this one.
    var blocked: () -> Void = {}
    /// Shows the notifications now, and not in the loop's next turn.
    var notifyNow: () -> Void = {}
    /// The tasks of this process that await promises.
    let awaiter: PromiseAwaiter

    init(
        loop: any Scheduler, runner: StepRunner, timing: Timing, report: @escaping (EngineEvent) -> Void,
        fatal: @escaping (any Error) -> Void, changed: @escaping () -> Void, awaiter: PromiseAwaiter,
        random: @escaping () -> Double,
        connect: @escaping (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    ) {
        self.awaiter = awaiter
        self.loop = loop
        self.connect = connect
        self.random = random
        self.runner = runner
        self.timing = timing
        self.report = report
        self.fatal = fatal
        self.changed = changed
    }

    /// Connects over sockets, on the loop itself.
    convenience init(
        loop: EventLoop, runner: StepRunner, timing: Timing, report: @escaping (EngineEvent) -> Void,
        fatal: @escaping (any Error) -> Void, changed: @escaping () -> Void, awaiter: PromiseAwaiter
    ) {
        self.init(
            loop: loop, runner: runner, timing: timing, report: report, fatal: fatal, changed: changed,
            awaiter: awaiter, random: { .random(in: 0..<1) },
            connect: { Connection(loop: loop, target: $0, tls: $1, $2) })
    }

    func emit(_ content: any EventContent, for account: Account) {
        report(EngineEvent(account: account.jid, at: runner.now, content: content))
    }

    func emit(_ events: [EngineEvent]) { events.forEach(report) }

    /// Promises were settled, and the step that settled them was committed.
    func settled(_ promises: [Int64: StoredValue]) {
        for (id, outcome) in promises { awaiter.settled(id, outcome) }
    }

    /// The process can no longer drive at all.
    func fail(_ error: any Error) { fatal(error) }

    /// Something was acknowledged, or an account's driver has stopped trying: the engine may be done.
    func mayHaveEnded() { changed() }
}

/// The engine's timeouts, in seconds. None affects correctness: whatever times out is retried.
public struct Timing: Sendable {
    /// The timeout for establishing a session, starting with the connection.
    public var negotiation: Double = 60
    /// The timeout for a response to `<r/>`.
    public var acknowledgement: Double = 60
    /// The interval of keepalives on an idle connection.
    public var keepalive: Double = 300
    /// The timeout for a response to `<r/>` after the network changed.
    public var networkCheck: Double = 10
    /// The delay before the archive is read once more after a bind, or queried again if the query failed.
    public var archiveRetry: Double = 5
    /// How long the results of an archive page wait for the rest of the page. Results are of no use before the end of the page,
    /// and a transaction for each of the server's writes costs twice as much as one for the page.
    public var page: Double = 0.25
    /// The timeout for reaching the server to end a session there, when an account is logged out.
    public var logout: Double = 5
    /// How long a session must last before a reconnection without the accumulated delay of earlier failures.
    public var stable: Double = 10
    /// The longest delay between two connection attempts.
    public var longestRetry: Double = 300
    /// The longest delay between two attempts to write to a blocked database.
    public var longestStorageRetry: Double = 30

    /// Creates the default values for a phone or a desktop.
    public init() {}
}
