import KalijAddress
import KalijText

/// An archive (XEP-0313): the account's own archive, or a room's.
package struct Archive: Equatable {
    /// The key in the database: empty for the account's own archive, else the room's bare address.
    package let key: String

    /// The account's own archive.
    package static let own = Archive(key: "")

    package init(key: String) { self.key = key }
    package init(room: JID) { key = room.bare.description }

    package var isOwn: Bool { key.isEmpty }
    package static func == (left: Archive, right: Archive) -> Bool { left.key.exact == right.key.exact }

    /// Whether `text` can be the id of a message in an archive. Queries send ids back to the archive, so their length is limited.
    package static func isID(_ text: String) -> Bool { !text.isEmpty && text.utf8.count <= 1000 }
    /// The address for queries: nil for the account's own archive, for which the account's server responds.
    package var recipient: JID? { isOwn ? nil : JID.received(key) }
}
