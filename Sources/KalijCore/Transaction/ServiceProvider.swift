/// A feature with work of its own on the loop of a driving process, besides the steps: transfers, an index, timers of a session, calls
/// of the application.
package protocol ServiceProvider: Feature {
    /// The feature's service for an account; nil if this process needs none.
    static func accountService(for host: any AccountServiceHost) -> (any FeatureService)?

    /// The feature's service for all accounts of the directory; nil if this process needs none.
    static func directoryService(for host: any ServiceHost) -> (any FeatureService)?
}

extension ServiceProvider {
    package static func accountService(for host: any AccountServiceHost) -> (any FeatureService)? { nil }
    package static func directoryService(for host: any ServiceHost) -> (any FeatureService)? { nil }
}

/// A feature's work on the loop of a driving process. Holds no state that another process would need: such state is in rows.
package protocol FeatureService: AnyObject {
    /// The process begins to drive.
    func start()

    /// A session of the account began, or another one was resumed. Only for an account's service.
    func sessionDidBegin(isResumed: Bool)

    /// A step was committed, of any account for the directory's service.
    /// - Parameter isSignalled: whether the step has signalled the feature (``Step/signal(_:)``).
    func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool)

    /// All received stanzas are handled. Called before the process waits for the disk.
    func inboxDidEmpty()

    /// Whether work is in progress for which a process waits that ends by itself.
    var isBusy: Bool { get }

    /// Whether work has failed that is left to the next process.
    var hasFailed: Bool { get }

    /// Ends all work. The next process resumes it.
    func stop()

    /// The connections are closed: records what has ended since ``stop()``.
    func finish()
}

extension FeatureService {
    package func start() {}
    package func sessionDidBegin(isResumed: Bool) {}
    package func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool) {}
    package func inboxDidEmpty() {}
    package var isBusy: Bool { false }
    package var hasFailed: Bool { false }
    package func stop() {}
    package func finish() {}
}
