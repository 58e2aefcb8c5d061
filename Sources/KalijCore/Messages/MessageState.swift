/// The last recorded state of an outgoing message.
public enum MessageState: String, Sendable, Codable {
    /// Accepted; no byte has left.
    case queued
    /// The bytes have left; the server has not confirmed the message.
    case sent
    /// The server has the message.
    case acked
    /// A client of the recipient's has the message (XEP-0184).
    case delivered
    /// The recipient, or each member of a group, has seen the message (XEP-0333), and all messages before.
    case displayed
    /// The message was refused; the reason is stored.
    case failed
}

extension MessageState {
    /// Whether the server has confirmed the message, or an entity behind it has.
    public var isWithServer: Bool {
        switch self {
        case .acked, .delivered, .displayed: true
        case .queued, .sent, .failed: false
        }
    }

    /// Whether a message of this state and `type` can no longer be refused: a room shows what it has accepted.
    package func hasArrived(_ type: String) -> Bool {
        type == "groupchat" ? self == .delivered || self == .displayed : isWithServer
    }
}

/// The direction of a message.
public enum Direction: String, Sendable, Codable {
    /// From somebody else.
    case incoming = "in"
    /// From the account, on any device.
    case outgoing = "out"
}
