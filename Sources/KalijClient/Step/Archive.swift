import KalijAddress

/// An archive (XEP-0313): the account's own, or that of a room.
struct Archive: Equatable {
    /// What it is stored under: nothing for the account's own, else the room's bare address.
    let key: String

    /// The account's own.
    static let own = Archive(key: "")

    init(key: String) { self.key = key }
    init(room: JID) { key = room.bare.description }

    var isOwn: Bool { key.isEmpty }
    /// Whether `text` can be the id of a message in an archive. An id goes back to the archive in questions, so that its length is
    /// bounded.
    static func isID(_ text: String) -> Bool { !text.isEmpty && text.utf8.count <= 1000 }
    /// Whom to ask: nobody in particular for the account's own, which its server answers for.
    var recipient: JID? { isOwn ? nil : JID.received(key) }
}
