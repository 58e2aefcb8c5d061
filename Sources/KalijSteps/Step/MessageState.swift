/// What is known of a message that the user sent.
public enum MessageState: String, Sendable, Codable {
    /// Accepted; no byte has left.
    case queued
    /// Its bytes have left, the server has not said that it has them.
    case sent
    /// The server has it.
    case acked
    /// It was refused; the reason is stored with it.
    case failed
}

/// Which way a message went.
public enum Direction: String, Sendable, Codable {
    /// From somebody else.
    case incoming = "in"
    /// From the account, on whatever device.
    case outgoing = "out"
}
