import KalijCore
import KalijStream
import KalijXML

/// Guards against stanzas that may have ended an earlier process: the start of each attempt is committed before the step, and a
/// stanza with too many attempts is set aside. A result of an archive is counted separately (``FailedResults``).
package struct PoisonStanzaGuard {
    package enum Action: Equatable {
        /// Commit the start of an attempt (``Attempts/begin(_:)``), report its number (``begun(_:attempt:)``), and call
        /// ``handle(_:)`` again.
        case begin
        case handle
        /// Set the stanza aside, after the given number of attempts.
        case setAside(Int)
    }

    /// Whether the start of each attempt is committed: until the redelivered stanzas are handled.
    package private(set) var isCareful: Bool
    /// The stanza whose attempt has started in this process and has not ended, with the number of the attempt.
    private var attempt: (count: HandledCount, number: Int)?

    /// The archive results that could not be handled, by name, with the number of failures.
    private var failedResults: [String: Int]  // characters: names of ASCII.

    package init(isCareful: Bool, failedResults: [String: Int] = [:]) {
        (self.isCareful, self.failedResults) = (isCareful, failedResults)
    }

    /// Whether stanzas may be handled together with their neighbours.
    package var isOver: Bool { !isCareful && attempt == nil }

    /// Whether an attempt has started and not ended.
    package var isTrying: Bool { attempt != nil }

    /// The action for the stanza that advances the handled count to `count`.
    package func handle(_ count: HandledCount) -> Action {
        if isCareful, attempt?.count != count { return .begin }
        guard let attempt, attempt.number >= Attempts.last else { return .handle }
        return .setAside(attempt.number)
    }

    package mutating func begun(_ count: HandledCount, attempt number: Int) { attempt = (count, number) }

    /// The attempt has ended: the stanza was handled, the attempt was withdrawn because the machine was the cause, or the
    /// connection was closed.
    package mutating func attemptEnded() { attempt = nil }

    /// The redelivered stanzas were handled, or there are none, because the session is new.
    package mutating func passed() { isCareful = false }

    /// Whether any archive result could not be handled.
    package var hasFailedResults: Bool { !failedResults.isEmpty }

    /// Whether the result of this name could not be handled before, so that it is handled individually.
    package func hasFailed(_ result: String) -> Bool { failedResults[result] != nil }

    /// Whether all attempts at the result of this name have failed.
    package func isUsedUp(_ result: String) -> Bool { failedResults[result] ?? 0 >= Attempts.last }

    /// The result could not be handled, `times` times so far.
    package mutating func failed(_ result: String, times: Int) { failedResults[result] = times }

    /// The result was handled.
    package mutating func handled(_ result: String) { failedResults[result] = nil }

    /// A stanza could not be handled. It was not acknowledged, so the server redelivers it.
    package mutating func failed() { isCareful = true }
}
