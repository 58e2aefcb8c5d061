import KalijAddress
import KalijStore

/// Accepts messages from the user. Once ``accept(_:to:of:in:clock:id:)`` returns, a message is sent exactly once, whatever happens to
/// the process. If a session is lost and no archive can determine whether the message arrived, its outcome is reported as unknown.
public enum OutgoingMessages {
    /// The maximum size of an accepted stanza, in bytes. Leaves space for the additions of features
    /// (``OutgoingMessageDecorator/decorate(_:in:)``).
    package static let maxStanzaSize = OutboundQueue.defaultStanzaLimit - 1_000
}

/// Why a message was not accepted.
public enum AcceptError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The message is empty.
    case empty
    /// The message contains the character with this code, which XML does not allow.
    case notXML(UInt32)
    /// The message's stanza would have this many bytes.
    case tooLong(Int)
    /// The specified id is not allowed.
    case badID
    /// The message to reply to is not stored, or has no id.
    case unanswerable

    public var description: String {
        switch self {
        case .empty: "the message is empty"
        case .notXML(let code): "the message holds the character U+\(Self.hex(code)), which XMPP cannot carry"
        case .unanswerable: "the message to be answered is not here, or has no id"
        case .badID: "an id has 1 to 256 bytes, and neither spaces nor control characters"
        case .tooLong(let bytes):
            "the message takes \(bytes) bytes, at most \(OutgoingMessages.maxStanzaSize) can be sent"
        }
    }

    private static func hex(_ code: UInt32) -> String {
        let digits = String(code, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
