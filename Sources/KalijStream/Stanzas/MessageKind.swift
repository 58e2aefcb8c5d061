/// The kind of a message's conversation (RFC 6121, 5.2.2).
public enum MessageKind: String, Hashable, Sendable, CaseIterable {
    /// A conversation of two.
    case chat
    /// The answer to a message that could not be delivered or understood.
    case error
    /// A room.
    case groupchat
    /// News, without an expected answer.
    case headline
    /// Outside of any conversation; an answer is expected.
    case normal

    /// The meaning of a message's attribute `type`: ``normal`` for no type, or for an unknown type.
    public init(type: String?) { self = type.flatMap(MessageKind.init(rawValue:)) ?? .normal }
}
