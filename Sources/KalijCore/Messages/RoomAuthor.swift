import KalijAddress
import KalijText

/// The author of a message in a room, where proven. A nickname alone proves nothing: anybody can take the nickname of an occupant
/// who leaves.
///
/// Key whatever represents a person, such as a colour, a picture or the name above several messages, by this value, and not by
/// the nickname. Two authors of a conversation are the same only if they are equal: unequal ids of occupants prove nothing, since
/// servers change them (measured: ejabberd).
public enum RoomAuthor: Hashable, Sendable {
    /// The bare address that the room shows to all (XEP-0045 section 7.2.2, XEP-0313 section 7).
    case address(JID)
    /// The id that the room gives the occupant (XEP-0421); of this room alone.
    case occupant(String)
    /// A stay in the room that this account has seen from its beginning, or from its own join on.
    case stay(Int64)

    private static let (address, occupant, stay) = ("jid:", "id:", "stay:")

    public static func == (left: RoomAuthor, right: RoomAuthor) -> Bool { left.text.exact == right.text.exact }
    public func hash(into hasher: inout Hasher) { hasher.combine(text.exact) }

    /// - Parameter text: the stored form.
    package init?(_ text: String) {
        if let address = Self.address(of: text) {
            self = .address(.received(address))
        } else if let id = text.rest(after: Self.occupant) {
            self = .occupant(id)
        } else if let number = text.rest(after: Self.stay).flatMap({ Int64($0) }) {
            self = .stay(number)
        } else {
            return nil
        }
    }

    /// The author as a text, the same for equal authors alone: an opaque key.
    public var text: String {
        switch self {
        case .address(let jid): Self.address + jid.description
        case .occupant(let id): Self.occupant + id
        case .stay(let number): Self.stay + "\(number)"
        }
    }

    /// The bare address, where the room has shown the address.
    public var address: String? { if case .address(let jid) = self { jid.description } else { nil } }

    /// The bare address in a stored form; nil for other authors.
    package static func address(of author: String) -> String? { author.rest(after: address) }

    /// The address to show for the author of a stored form: the bare address, where the room has shown the address; otherwise the
    /// occupant's address at that time. The authors of other conversations are stored as bare addresses.
    package static func shown(_ author: String, sender: String) -> String {
        if let address = address(of: author) { return address }
        return author.begins(with: occupant) || author.begins(with: stay) ? sender : author
    }
}
