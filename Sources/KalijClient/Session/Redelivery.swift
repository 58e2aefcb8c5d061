import KalijFeatures
import KalijStream

/// How stanzas are handled that may have ended a process before: the beginning of each is committed ahead of it, and one that was
/// begun too often is set aside.
struct Redelivery {
    enum Action: Equatable {
        /// Commit that an attempt begins (``Attempts/begin(_:)``), say which it is (``begun(_:attempt:)``), and ask again.
        case begin
        case handle
        /// Do not handle it any more, after so many attempts.
        case setAside(Int)
    }

    /// Whether the beginning of each stanza is committed ahead of it: until the redelivered ones are past.
    private(set) var isCareful: Bool
    /// The stanza whose attempt was begun in this process and has not ended, and which attempt it is.
    private var attempt: (count: HandledCount, number: Int)?

    init(isCareful: Bool) { self.isCareful = isCareful }

    /// Whether stanzas may be handled together with their neighbours.
    var isOver: Bool { !isCareful && attempt == nil }

    /// Whether an attempt has begun and not ended.
    var isTrying: Bool { attempt != nil }

    /// What is to be done with the stanza that makes the handled count `count`.
    func handle(_ count: HandledCount) -> Action {
        if isCareful, attempt?.count != count { return .begin }
        guard let attempt, attempt.number >= Attempts.last else { return .handle }
        return .setAside(attempt.number)
    }

    mutating func begun(_ count: HandledCount, attempt number: Int) { attempt = (count, number) }

    /// The attempt has ended: the stanza is handled, the machine was to blame and the attempt taken back, or the connection is gone.
    mutating func attemptEnded() { attempt = nil }

    /// What the server had sent before is past, or there is nothing to be sent again: the session is new.
    mutating func passed() { isCareful = false }

    /// A stanza could not be handled. It was not acknowledged: the server sends it again.
    mutating func failed() { isCareful = true }
}
