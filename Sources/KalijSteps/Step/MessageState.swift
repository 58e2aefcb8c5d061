/// The known state of an outgoing message.
public enum MessageState: String, Sendable, Codable {
    /// Accepted; no byte has left.
    case queued
    /// The bytes have left; the server has not confirmed the message.
    case sent
    /// The server has the message.
    case acked
    /// The message was refused; the reason is stored.
    case failed
}

/// The direction of a message.
public enum Direction: String, Sendable, Codable {
    /// From somebody else.
    case incoming = "in"
    /// From the account, on any device.
    case outgoing = "out"
}
