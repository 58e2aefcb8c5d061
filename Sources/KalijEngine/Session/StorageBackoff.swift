import KalijCore
import KalijTransport

/// Tracks whether the database can be written, and if not, the time of the next attempt.
package struct StorageBackoff {
    private var backoff: Backoff
    /// Whether an event has reported to the application that the database cannot be written.
    private var isReported = false
    /// Whether handling is suspended until the next attempt.
    package private(set) var isWaiting = false

    /// - Parameter longest: the longest delay, in seconds.
    package init(longest: Double) { backoff = Backoff(base: 1, limit: longest) }

    /// The database could not be written.
    /// - Parameter random: from 0 up to but not including 1.
    /// - Returns: seconds until the next attempt.
    package mutating func failed(random: Double) -> Double {
        (isReported, isWaiting) = (true, true)
        return backoff.next(random: random)
    }

    /// The next attempt is due, or there is nothing left to attempt, because the connection has ended.
    package mutating func resume() { isWaiting = false }

    /// The work of a session has succeeded.
    /// - Returns: whether the database could not be written before.
    package mutating func worked() -> Bool {
        guard isReported, !isWaiting else { return false }
        isReported = false
        backoff.reset()
        return true
    }
}
