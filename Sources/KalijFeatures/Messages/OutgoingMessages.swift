import KalijSteps
import KalijAddress
import KalijStore

/// Accepts messages from the user. Once ``accept(_:to:of:in:clock:id:)`` returns, a message is sent exactly once, whatever
/// happens to the process. If a session is lost and no archive can tell, the message is reported as of unknown outcome.
public enum OutgoingMessages {
    /// The largest accepted stanza, in bytes. Leaves room for the additions of features (``OutgoingMessageDecorator/decorate(_:in:)``).
    package static let largestStanza = OutboundQueue.usuallyTaken - 1_000

    /// Stores a chat message and queues the message.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`).
    ///   - clock: the source of time.
    ///   - account: the sender.
    ///   - body: the text.
    ///   - recipient: the receiver.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil for a new id. A message accepted before under the same id is
    ///     returned unchanged, and not sent again.
    /// - Returns: the message in the state `queued`, or the message accepted before under the id.
    /// - Throws: `AcceptError` for a text that cannot be sent, `StoreError`. Then nothing was accepted.
    public static func accept(
        _ body: String, to recipient: JID, of account: Account, in database: Database, clock: Clock = .system,
        id: String? = nil
    ) throws -> Message {
        let text = try OutgoingText(body, to: recipient, id: id)
        return try Step.accept(for: account, in: database, clock: clock, text.accept)
    }
}

/// Why a message was not accepted.
public enum AcceptError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The message is empty.
    case empty
    /// The message holds the character with the given code, and XML cannot carry the character.
    case notXML(UInt32)
    /// The message's stanza would have so many bytes.
    case tooLong(Int)
    /// The given id is not allowed.
    case badID
    /// The message to be answered is not here, or has no id.
    case unanswerable

    public var description: String {
        switch self {
        case .empty: "the message is empty"
        case .notXML(let code): "the message holds the character U+\(Self.hex(code)), which XMPP cannot carry"
        case .unanswerable: "the message to be answered is not here, or has no id"
        case .badID: "an id has 1 to 256 bytes, and neither spaces nor control characters"
        case .tooLong(let bytes):
            "the message takes \(bytes) bytes, at most \(OutgoingMessages.largestStanza) can be sent"
        }
    }

    private static func hex(_ code: UInt32) -> String {
        let digits = String(code, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
