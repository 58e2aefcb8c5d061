import KalijCoordination
import KalijCore
import KalijHandlers
import KalijTransport

/// The objects that the drivers of all accounts share. Lives on the engine's thread.
package final class DriverContext {
    package let loop: any Scheduler
    /// Creates a connection for an account. The caller opens it.
    package let connect: (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    /// A random number from 0 up to but not including 1.
    package let random: () -> Double
    package let runner: StepRunner
    package let timing: Timing
    private let report: (EngineEvent) -> Void
    private let fatal: (any Error) -> Void
    private let changed: () -> Void
    /// What the services of features see of the process.
    package let serviceHost: any ServiceHost
    /// The services of the directory.
    package let services: Services
    /// When this process has to end, on the loop's clock; nil without a limit.
    package var end: Double?
    /// Called when another process blocks the writes of this one.
    package var blocked: () -> Void = {}
    /// Called when an account that could store nothing tries again.
    package var storageResumed: () -> Void = {}
    /// The tasks of this process that await promises.
    package let awaiter: PromiseAwaiter

    package init(
        loop: any Scheduler, runner: StepRunner, timing: Timing, report: @escaping (EngineEvent) -> Void,
        fatal: @escaping (any Error) -> Void, changed: @escaping () -> Void, awaiter: PromiseAwaiter,
        role: Role = .main, isCareful: Bool = false, resources: ServiceResources = ServiceResources(),
        random: @escaping () -> Double,
        connect: @escaping (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    ) {
        let host = ProcessServiceHost(
            role: role, loop: loop, runner: runner, timing: timing, random: random, isCareful: isCareful,
            resources: resources)
        serviceHost = host
        services = Services(of: runner.features) { $0.directoryService(for: host) }
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
    package convenience init(
        loop: EventLoop, runner: StepRunner, timing: Timing, report: @escaping (EngineEvent) -> Void,
        fatal: @escaping (any Error) -> Void, changed: @escaping () -> Void, awaiter: PromiseAwaiter
    ) {
        self.init(
            loop: loop, runner: runner, timing: timing, report: report, fatal: fatal, changed: changed,
            awaiter: awaiter, random: { .random(in: 0..<1) },
            connect: { Connection(loop: loop, target: $0, tls: $1, $2) })
    }

    package func emit(_ content: any EventContent, for account: Account) {
        report(EngineEvent(account: account.jid, at: runner.now, content: content))
    }

    package func emit(_ events: [EngineEvent]) { events.forEach(report) }

    /// Promises were settled, and the step that settled them was committed.
    package func settled(_ promises: [Int64: StoredValue]) {
        for (id, outcome) in promises { awaiter.settled(id, outcome) }
    }

    /// The process can no longer drive at all.
    package func fail(_ error: any Error) { fatal(error) }

    /// Something was acknowledged, or an account's driver has stopped trying: the engine may be done.
    package func mayHaveEnded() { changed() }
}
