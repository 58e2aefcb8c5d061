import KalijFeatures
import KalijStream
import KalijXML

/// Handles stanzas that may have ended an earlier process: the beginning of each attempt is committed before the step, and a
/// stanza begun too often is set aside. A result of an archive counts by itself (``FailedResults``).
struct PoisonStanzaGuard {
    enum Action: Equatable {
        /// Commit the beginning of an attempt (``Attempts/begin(_:)``), tell the number (``begun(_:attempt:)``), and ask again.
        case begin
        case handle
        /// Set the stanza aside, after so many attempts.
        case setAside(Int)
    }

    /// Whether the beginning of each attempt is committed: until the redelivered stanzas are past.
    private(set) var isCareful: Bool
    /// The stanza whose attempt has begun in this process and has not ended, with the number of the attempt.
    private var attempt: (count: HandledCount, number: Int)?

    /// The results of archives that could not be handled, by name, and how often.
    private var failedResults: [String: Int]  // characters: names of ASCII.

    init(isCareful: Bool, failedResults: [String: Int] = [:]) {
        (self.isCareful, self.failedResults) = (isCareful, failedResults)
    }

    /// Whether stanzas may be handled together with their neighbours.
    var isOver: Bool { !isCareful && attempt == nil }

    /// Whether an attempt has begun and not ended.
    var isTrying: Bool { attempt != nil }

    /// The action for the stanza that makes the handled count `count`.
    func handle(_ count: HandledCount) -> Action {
        if isCareful, attempt?.count != count { return .begin }
        guard let attempt, attempt.number >= Attempts.last else { return .handle }
        return .setAside(attempt.number)
    }

    mutating func begun(_ count: HandledCount, attempt number: Int) { attempt = (count, number) }

    /// The attempt has ended: the stanza is handled, the machine was to blame and the attempt taken back, or the connection is gone.
    mutating func attemptEnded() { attempt = nil }

    /// The redelivered stanzas are past, or there are none: the session is new.
    mutating func passed() { isCareful = false }

    /// Whether any result of an archive could not be handled.
    var hasFailedResults: Bool { !failedResults.isEmpty }

    /// Whether the result of this name could not be handled before, so that it is handled alone.
    func hasFailed(_ result: String) -> Bool { failedResults[result] != nil }

    /// Whether all attempts at the result of this name have failed.
    func isUsedUp(_ result: String) -> Bool { failedResults[result] ?? 0 >= Attempts.last }

    /// The result could not be handled, so many times by now.
    mutating func failed(_ result: String, times: Int) { failedResults[result] = times }

    /// The result was handled.
    mutating func handled(_ result: String) { failedResults[result] = nil }

    /// A stanza could not be handled. The stanza was not acknowledged, so the server sends the stanza again.
    mutating func failed() { isCareful = true }
}
