import KalijAddress
import KalijHandlers
import KalijCoordination

/// A message in the mailbox that waits for the driver.
package struct SharedMessage: Codable {
    /// The name of the item.
    package static let name = "message"

    /// A canonical address.
    package let recipient: String
    /// The id of the message.
    package let id: String
    package let body: String
    /// The message that the text replies to.
    package let answered: AnsweredMessage?
    /// Whether the text is encrypted; if nil, as the conversation is.
    package let privacy: EncryptionPreference?
    /// Whether the text was the conversation's draft; nil if not.
    package let endsDraft: Bool?

    package init(_ text: OutgoingText) {
        recipient = text.recipient.description
        id = text.id
        body = text.body
        answered = text.answered
        privacy = text.privacy == .asConversation ? nil : text.privacy
        endsDraft = text.endsDraft ? true : nil
    }

    /// Decodes `parcel`.
    /// - Throws: `StoredValueError` if the item is damaged, or of another version.
    package init(_ parcel: QueuedItem) throws {
        guard parcel.name == Self.name else { throw SharedError.unknown(parcel.name) }
        guard let value = StoredValue(canonical: parcel.payload) else { throw SharedError.damaged }
        self = try value.decoded(as: Self.self)
    }

    package var payload: [UInt8] { get throws { try StoredValue(encoding: self).canonicalBytes } }

    /// - Throws: `JIDError`, `AcceptError` if the message cannot be sent.
    package var text: OutgoingText {
        get throws {
            var text = try OutgoingText(
                body, to: try JID(recipient), id: id, answering: answered, privacy: privacy ?? .asConversation)
            text.endsDraft = endsDraft ?? false
            return text
        }
    }
}

/// The reason why an item of the mailbox cannot be imported.
package enum SharedError: Error, CustomStringConvertible {
    case unknown(String)
    case damaged
    case unreadable(String)

    package var description: String {
        switch self {
        case .unknown(let name): "this version does not know what a \"\(name)\" is"
        case .damaged: "it is damaged"
        case .unreadable(let reason): reason
        }
    }
}
