import KalijCoordination
import KalijCore

/// The services of features in this process, for an account or for the directory.
package final class Services {
    private let running: [(feature: ObjectIdentifier, service: any FeatureService)]

    /// - Parameter make: creates a feature's service.
    package init(of features: Features, _ make: (any ServiceProvider.Type) -> (any FeatureService)?) {
        running = features.hooks.serviceProviders.compactMap { provider in
            make(provider).map { (ObjectIdentifier(provider), $0) }
        }
    }

    /// Whether `feature` has a service here.
    package func has(_ feature: any Feature.Type) -> Bool {
        running.contains { $0.feature == ObjectIdentifier(feature) }
    }

    package var isBusy: Bool { running.contains { $0.service.isBusy } }
    package var hasFailed: Bool { running.contains { $0.service.hasFailed } }

    package func start() { running.forEach { $0.service.start() } }
    package func sessionDidBegin(isResumed: Bool) {
        running.forEach { $0.service.sessionDidBegin(isResumed: isResumed) }
    }
    package func inboxDidEmpty() { running.forEach { $0.service.inboxDidEmpty() } }
    package func stop() { running.forEach { $0.service.stop() } }
    package func finish() { running.forEach { $0.service.finish() } }

    /// Signals the service of `feature`, outside of a step.
    package func signal(_ feature: any Feature.Type) {
        for running in running where running.feature == ObjectIdentifier(feature) {
            running.service.stepDidCommit(Step.Effects(), isSignalled: true)
        }
    }

    package func stepDidCommit(_ effects: Step.Effects) {
        for (feature, service) in running {
            service.stepDidCommit(effects, isSignalled: effects.isSignalled(feature))
        }
    }
}

/// The process, for the services of the directory.
package final class ProcessServiceHost: ServiceHost {
    package let role: Role
    package let loop: any Scheduler
    package let runner: StepRunner
    package let timing: Timing
    package let random: () -> Double
    package let isCareful: Bool
    package let resources: ServiceResources

    package init(
        role: Role, loop: any Scheduler, runner: StepRunner, timing: Timing, random: @escaping () -> Double,
        isCareful: Bool, resources: ServiceResources
    ) {
        (self.role, self.loop, self.runner, self.timing) = (role, loop, runner, timing)
        (self.random, self.isCareful, self.resources) = (random, isCareful, resources)
    }
}

/// The account's driver, for the services of the account.
package final class DriverServiceHost: AccountServiceHost {
    package let account: Account
    private weak var driver: AccountDriver?
    private let context: DriverContext
    private let host: any ServiceHost

    package init(_ driver: AccountDriver) {
        (host, self.driver, context, account) = (driver.context.serviceHost, driver, driver.context, driver.account)
    }

    package var role: Role { host.role }
    package var loop: any Scheduler { host.loop }
    package var runner: StepRunner { host.runner }
    package var timing: Timing { host.timing }
    package var random: () -> Double { host.random }
    package var isCareful: Bool { host.isCareful }
    package var resources: ServiceResources { host.resources }

    package var isOnline: Bool { driver?.stage.session != nil }
    package var isLineBusy: Bool { driver?.stage.session?.isBusy ?? false }
    package var isLinkSlow: Bool { driver?.stage.session?.isLinkSlow ?? false }
    package var isBlocked: Bool { driver?.storage.isWaiting ?? true }
    package var end: Double? { context.end }
    package func attempt(_ body: () throws -> Void) { driver?.attempt(body) }
    package func release(_ effects: Step.Effects) {
        driver?.release(effects)
        // Another process may await the outcome of a file, or it may have been the last outstanding work of this one.
        context.loop.enqueue { [weak driver] in driver?.context.mayHaveEnded() }
    }
    package func emit(_ content: any EventContent) { driver.map { context.emit(content, for: $0.account) } }
    package func flush() { attempt { try driver?.stage.session?.flush() } }
}
