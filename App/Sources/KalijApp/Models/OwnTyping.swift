import KalijClient

/// The user's state in the chat with a contact (XEP-0085). Each state is sent once: a state is not repeated (section 5.3).
public struct OwnTyping: Sendable, Equatable {
    private var state = ChatState.active

    public init() {}

    /// The user has changed the text.
    /// - Returns: the state to send; nil for none.
    public mutating func changed(isEmpty: Bool) -> ChatState? { move(to: isEmpty ? .active : .composing) }

    /// The user has not changed the text for ``pause``, or has opened another conversation.
    public mutating func paused() -> ChatState? { state == .composing ? move(to: .paused) : nil }

    /// The text was sent, and its message has the state `active` (section 5.1).
    public mutating func sent() { state = .active }

    /// In milliseconds; section 2 suggests 5 seconds.
    public static let pause: UInt32 = 5_000

    private mutating func move(to next: ChatState) -> ChatState? {
        guard next != state else { return nil }
        state = next
        return next
    }
}
