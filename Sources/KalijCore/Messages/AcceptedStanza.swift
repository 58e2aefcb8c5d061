import KalijAddress
import KalijXML

/// A stanza of the user's that was accepted, and is about to be enqueued.
public struct AcceptedStanza {
    /// The `<message/>`.
    public let element: Element
    /// The row of the message.
    public let message: Int64
    /// The recipient: a person, an occupant of a room, or a room.
    public let recipient: JID
    /// Whether the text is to be encrypted.
    public let privacy: EncryptionPreference
    /// Whether the stanza is sent again if a lost session leaves its delivery unknown: a second copy has the same effect as the first.
    public let isRepeatable: Bool

    package init(
        _ element: Element, of message: Int64, to recipient: JID, _ privacy: EncryptionPreference, isRepeatable: Bool
    ) {
        (self.element, self.message, self.recipient) = (element, message, recipient)
        (self.privacy, self.isRepeatable) = (privacy, isRepeatable)
    }
}

/// Whether the text of a message of the user's is to be encrypted.
public enum EncryptionPreference: String, Sendable, Codable {
    /// Encrypted if the conversation is encrypted when the message is accepted.
    case asConversation = "conversation"
    /// Encrypted in any case: the conversation was encrypted when the user wrote the text.
    case encrypted
    /// Not encrypted, even in an encrypted conversation.
    case plain
}
