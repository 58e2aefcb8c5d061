import KalijFeatures
import KalijStream
import KalijXML

/// Handles stanzas that may have ended an earlier process: the beginning of each attempt is committed before the step, and a
/// stanza begun too often is set aside.
struct Redelivery {
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

    /// The result of an archive that could not be handled, and how often.
    private var failedResult: (place: String, times: Int)?

    init(isCareful: Bool) { self.isCareful = isCareful }

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

    /// The place in an archive of a result; nil for another stanza. Each connection asks the archive again, so a result comes each time
    /// as another stanza of the session, and its attempts are counted by its place.
    static func place(of stanza: Element) -> String? {
        stanza.child("result", "urn:xmpp:mam:2")?["id"].map { "\(stanza["from"] ?? "") \($0)" }
    }

    /// Whether all attempts at the result in this place have failed.
    func isUsedUp(_ place: String) -> Bool {
        failedResult.map { $0.place == place && $0.times >= Attempts.last } ?? false
    }

    /// The result in this place could not be handled.
    mutating func failed(_ place: String) {
        failedResult = (place, failedResult?.place == place ? (failedResult?.times ?? 0) + 1 : 1)
    }

    /// A stanza could not be handled. The stanza was not acknowledged, so the server sends the stanza again.
    mutating func failed() { isCareful = true }
}
