/// Limits how often messages are marked as read while a conversation is open: a flood causes one marker a second.
public struct ReadingPace: Sendable {
    /// What to do about a displayed message.
    public enum Action: Sendable, Equatable {
        case mark
        /// Call ``ReadingPace/waited()`` and try again after this number of milliseconds.
        case wait(Int64)
    }

    /// The row of the last message that was marked.
    private var marked: Int64 = 0
    private var markedAt: Int64?
    private var isWaiting = false

    public static let interval: Int64 = 1000

    public init() {}

    /// The newest displayed message is `message`.
    /// - Parameters:
    ///   - now: milliseconds of a clock that is never set.
    ///   - isLeaving: whether the conversation is being closed, so that nothing can be marked later.
    /// - Returns: nil if there is nothing to do.
    public mutating func displayed(_ message: Int64, now: Int64, isLeaving: Bool = false) -> Action? {
        guard message != marked else { return nil }
        let rest = markedAt.map { Self.interval - (now - $0) } ?? 0
        if isLeaving || rest <= 0 {
            (marked, markedAt) = (message, now)
            return .mark
        }
        guard !isWaiting else { return nil }
        isWaiting = true
        return .wait(rest)
    }

    public mutating func waited() { isWaiting = false }

    /// Another conversation is opened, or the same one again.
    public mutating func opened() { marked = 0 }
}
