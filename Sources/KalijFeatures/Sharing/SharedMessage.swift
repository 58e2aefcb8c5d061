import KalijAddress
import KalijHandlers
import KalijRoles

/// A message as it waits in the mailbox for whoever drives.
package struct SharedMessage: Codable {
    /// What its parcel is called.
    package static let name = "message"

    /// A canonical address.
    package let recipient: String
    /// The id under which it is sent.
    package let id: String
    package let body: String

    package init(_ text: OutgoingText) {
        recipient = text.recipient.description
        id = text.id
        body = text.body
    }

    /// What is in `parcel`.
    /// - Throws: `StoredValueError` if it is damaged, or of another version.
    package init(_ parcel: Parcel) throws {
        guard parcel.name == Self.name else { throw SharedError.unknown(parcel.name) }
        guard let value = StoredValue(canonical: parcel.payload) else { throw SharedError.damaged }
        self = try value.decoded(as: Self.self)
    }

    package var payload: [UInt8] { get throws { try StoredValue(encoding: self).canonicalBytes } }

    /// - Throws: `JIDError`, `AcceptError` if it cannot be sent.
    package var text: OutgoingText { get throws { try OutgoingText(body, to: try JID(recipient), id: id) } }
}

/// Why something that was left in the mailbox cannot be taken over.
enum SharedError: Error, CustomStringConvertible {
    case unknown(String)
    case damaged

    package var description: String {
        switch self {
        case .unknown(let name): "this version does not know what a \"\(name)\" is"
        case .damaged: "it is damaged"
        }
    }
}
