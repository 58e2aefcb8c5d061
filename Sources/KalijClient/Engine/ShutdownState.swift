import KalijRoles

/// How an engine ends: by itself, told to, or because it cannot go on. A value that takes events; the engine performs.
struct ShutdownState {
    /// Seconds for a writer of the accounts' database while everything is let go.
    static let databasePatience = 0.1
    /// Seconds from the beginning of stopping to the last look into the mailbox: within a second everything is let go.
    private static let mailboxPatience = 0.6
    /// Seconds to the last look, if nobody has told this process to end.
    private static let longMailboxPatience = 10.0

    /// Why the engine cannot go on; nil if it could.
    private(set) var failure: (any Error)?
    /// Why the engine ends, if it could go on.
    private(set) var ending = Engine.Ending.stopped
    private(set) var isStopping = false
    /// Whether the engine stops because the work of its role is done.
    private(set) var isDone = false
    /// The beginning of stopping, in nanoseconds.
    private var begin: Int64 = 0

    /// The engine is to end, at `now`; `isDone` if because its work is done.
    /// - Returns: whether everything is to be let go now; false if that has begun.
    mutating func end(_ ending: Engine.Ending, isDone: Bool, at now: Int64) -> Bool {
        if case FenceError.stale? = failure {
            // The engine is ending because another process drives. Now the engine was told to end, and must not take
            // over again.
            (failure, self.ending) = (nil, ending)
        }
        // An engine that is ending because its work is done was told to end: it neither waits nor goes on.
        guard !isStopping else {
            self.isDone = false
            return false
        }
        (isStopping, self.isDone, self.ending, begin) = (true, isDone, ending, now)
        return true
    }

    /// The engine cannot go on.
    /// - Returns: whether everything is to be let go. False if another process drives: then every step would be refused.
    mutating func failed(_ error: any Error) -> Bool {
        guard case FenceError.stale = error else {
            failure = failure ?? error
            return true
        }
        // An engine told to end must not take over again.
        if !isStopping { failure = failure ?? error }
        isStopping = true
        return false
    }

    /// Letting go has failed.
    mutating func couldNotLetGo(_ error: any Error) { failure = error }

    /// There is new work: an engine that has ended by itself goes on.
    mutating func goOn() { (isStopping, isDone) = (false, false) }

    /// Seconds for a writer of the mailbox.
    func mailboxPatience(at now: Int64) -> Double { max(0.1, Self.mailboxPatience - seconds(to: now)) }

    /// Whether the mailbox is not waited for any more, though nobody has told this process to end.
    func givesUpMailbox(at now: Int64) -> Bool { isDone && seconds(to: now) > Self.longMailboxPatience }

    private func seconds(to now: Int64) -> Double { Double(now - begin) / 1_000_000_000 }
}
