import KalijCoordination
import KalijTransport

/// The process in which a ``FeatureService`` works. Lives on the engine's thread.
package protocol ServiceHost: AnyObject {
    /// The purpose of the process.
    var role: Role { get }
    var loop: any Scheduler { get }
    var runner: StepRunner { get }
    var timing: Timing { get }
    /// A random number from 0 up to but not including 1.
    var random: () -> Double { get }
    /// Whether the previous process may have ended while it handled a stanza.
    var isCareful: Bool { get }
    /// What the application, or the simulator, has given to the features' services.
    var resources: ServiceResources { get }
}

/// The account's driver, for a ``FeatureService`` of the account.
package protocol AccountServiceHost: ServiceHost {
    var account: Account { get }
    /// Whether there is a session.
    var isOnline: Bool { get }
    /// Whether the stream has bytes to send, or awaits an acknowledgement.
    var isLineBusy: Bool { get }
    /// Whether the link is slow, and the process has time.
    var isLinkSlow: Bool { get }
    /// Whether writes to the database are blocked.
    var isBlocked: Bool { get }
    /// When this process has to end, on the loop's clock; nil without a limit.
    var end: Double? { get }
    /// Runs `body`. An error determines whether the process waits, or the account stops.
    func attempt(_ body: () throws -> Void)
    /// Publishes the effects of a committed step.
    func release(_ effects: Step.Effects)
    func emit(_ content: any EventContent)
    /// Writes the queue to the stream.
    func flush()
}

/// The part of the event loop that schedules work on the engine's thread.
package protocol Scheduler: AnyObject {
    /// Seconds on the loop's own clock.
    var now: Double { get }
    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer
    func enqueue(_ body: @escaping () -> Void)
}

extension EventLoop: Scheduler {}

/// Objects for the services of features, at most one of each type.
package struct ServiceResources {
    private var values: [ObjectIdentifier: Any] = [:]

    package init() {}

    package subscript<Resource>(_ type: Resource.Type) -> Resource? {
        get { values[ObjectIdentifier(type)] as? Resource }
        set { values[ObjectIdentifier(type)] = newValue }
    }

    /// These resources, and `others`, which replace those of the same type.
    package func merging(_ others: ServiceResources) -> ServiceResources {
        var merged = self
        merged.values.merge(others.values) { $1 }
        return merged
    }
}
