import KalijAddress
import KalijXML

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

/// A message as an archive shows it (XEP-0313 section 4.2).
struct ArchivedMessage {
    let archive: Archive
    /// The id that the archive gave it.
    let id: String
    /// The archive's stamp, in milliseconds since 1970.
    let at: Int64?
    let message: Element

    /// Whether the archive may speak of the message at all. The account's own server speaks for the account. A room speaks for
    /// what was said in the room, and for nothing else: whoever runs the room writes its archive.
    var isOfItsArchive: Bool {
        archive.isOwn
            || message["type"] == "groupchat"
                && message["from"].map { JID.received($0).bare.description } == archive.key
    }

    /// Reads a `<result/>`; nil if it holds no message.
    init?(_ result: Element, of archive: Archive) {
        guard let id = result["id"], Archive.isID(id), let forwarded = result.child("forwarded", "urn:xmpp:forward:0"),
            let message = forwarded.child("message", "jabber:client")
        else { return nil }
        self.archive = archive
        self.id = id
        at = IncomingMessage.delay(in: forwarded)
        self.message = message
    }
}
