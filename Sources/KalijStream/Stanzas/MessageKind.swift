import KalijXML

/// The type of a message (RFC 6121, 5.2.2).
public enum MessageKind: String, Hashable, Sendable, CaseIterable {
    /// A one-to-one conversation.
    case chat
    /// An error in response to a message.
    case error
    /// A room.
    case groupchat
    /// An alert or a notification; no reply is expected.
    case headline
    /// Outside of any conversation; a reply is expected.
    case normal

    /// The meaning of the attribute `type`: ``normal`` if it is absent or unknown.
    public init(type: String?) { self = type.flatMap(MessageKind.init(rawValue:)) ?? .normal }

    /// The kind of a `<message/>`.
    package init(of message: Element) {
        self = MessageKind.chat.isWritten(in: message) ? .chat : MessageKind(type: message["type"])
    }

    /// Whether the attribute `type` of a `<message/>` is this one. Compares bytes and allocates nothing.
    package func isWritten(in message: Element) -> Bool {
        message.withAttribute("type") { $0.elementsEqual(rawValue.utf8) } ?? false
    }
}
