import KalijAddress

/// An archive (XEP-0313): the account's own, or that of a room.
package struct Archive: Equatable {
    /// What it is stored under: nothing for the account's own, else the room's bare address.
    package let key: String

    /// The account's own.
    package static let own = Archive(key: "")

    package init(key: String) { self.key = key }
    package init(room: JID) { key = room.bare.description }

    package var isOwn: Bool { key.isEmpty }
    /// Whether `text` can be the id of a message in an archive. An id goes back to the archive in questions, so that its length is
    /// bounded.
    package static func isID(_ text: String) -> Bool { !text.isEmpty && text.utf8.count <= 1000 }
    /// Whom to ask: nobody in particular for the account's own, which its server answers for.
    package var recipient: JID? { isOwn ? nil : JID.received(key) }
}
