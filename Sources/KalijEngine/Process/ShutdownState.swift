import KalijCore
import KalijCoordination

/// The state machine of an engine's shutdown: by itself, on request, or after a failure. A value that takes events; the engine
/// performs the actions.
package struct ShutdownState {
    /// The timeout for a writer of the accounts' database during the shutdown, in seconds.
    package static let databaseTimeout = 0.1
    /// Seconds from the start of the shutdown to the last check of the mailbox: all locks are released within a second.
    private static let mailboxTimeout = 0.6
    /// Seconds to the last check, if no stop was requested.
    private static let longMailboxTimeout = 10.0

    /// Why the engine has failed; nil if it has not.
    package private(set) var failure: (any Error)?
    /// Why the engine ends, unless it has failed.
    package private(set) var ending = Engine.Ending.stopped
    package private(set) var isStopping = false
    /// Whether the engine stops because the work of its role is done.
    package private(set) var isDone = false
    /// The start of the shutdown, in nanoseconds.
    private var begin: Int64 = 0

    /// The engine is to end, at `now`; `isDone` if its work is done.
    /// - Returns: whether to start the shutdown; false if it has already started.
    package mutating func end(_ ending: Engine.Ending, isDone: Bool, at now: Int64) -> Bool {
        if case FenceError.stale? = failure {
            // The engine is ending because another process drives. Now a stop was requested, and the engine must not take over
            // again.
            (failure, self.ending) = (nil, ending)
        }
        // A stop was requested of an engine that is ending because its work is done: it neither waits nor resumes.
        guard !isStopping else {
            self.isDone = false
            return false
        }
        (isStopping, self.isDone, self.ending, begin) = (true, isDone, ending, now)
        return true
    }

    /// The engine has failed.
    /// - Returns: whether to start the shutdown. False if another process drives, because every step would be refused.
    package mutating func failed(_ error: any Error) -> Bool {
        guard case FenceError.stale = error else {
            failure = failure ?? error
            return true
        }
        // An engine whose stop was requested must not take over again.
        if !isStopping { failure = failure ?? error }
        isStopping = true
        return false
    }

    /// The release of the fence has failed.
    package mutating func releaseFailed(_ error: any Error) { failure = error }

    /// There is new work: an engine that is ending by itself resumes.
    package mutating func resume() { (isStopping, isDone) = (false, false) }

    /// The timeout for a writer of the mailbox, in seconds.
    package func mailboxTimeout(at now: Int64) -> Double { max(0.1, Self.mailboxTimeout - seconds(to: now)) }

    /// Whether to stop waiting for the mailbox although no stop was requested.
    package func abandonsMailbox(at now: Int64) -> Bool { isDone && seconds(to: now) > Self.longMailboxTimeout }

    private func seconds(to now: Int64) -> Double { Double(now - begin) / 1_000_000_000 }
}
