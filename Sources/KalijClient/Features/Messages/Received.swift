import KalijAddress
import KalijStore
import KalijStream
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message stanza that the server delivered or archived, taken apart.
struct Received {
    let direction: Direction
    /// The other side's bare address.
    let conversation: String
    let sender: JID
    let recipient: JID
    let type: String
    let messageID: String
    let originID: String?
    /// Whose archive it belongs to, as ``Archive/key``.
    let archive: String
    /// The id in that archive; nil if it has none that can be trusted.
    let stanzaID: String?
    let body: String?
    /// Milliseconds since 1970.
    let sentAt: Int64
    /// When the archive that shows it says that it was archived; nil if none does.
    let archivedAt: Int64?

    /// A message that the server delivered.
    /// - Parameter archiver: whose stanza-id counts; nil if nobody's does.
    init(_ message: Element, account: JID, stampedBy archiver: JID?, now: Int64) {
        self.init(
            message, account: account, archive: nil, stanzaID: archiver.flatMap { Self.stanzaID(in: message, by: $0) },
            at: nil, now: now)
    }

    /// A message that an archive has shown.
    init(_ archived: ArchivedMessage, account: JID, now: Int64) {
        self.init(
            archived.message, account: account, archive: archived.archive, stanzaID: archived.id, at: archived.at,
            now: now)
    }

    private init(_ message: Element, account: JID, archive: Archive?, stanzaID: String?, at: Int64?, now: Int64) {
        sender = message["from"].map(JID.received) ?? account
        recipient = message["to"].map(JID.received) ?? account
        let author = sender.bare
        direction = author == account ? .outgoing : .incoming
        conversation = (direction == .incoming ? author : recipient.bare).description
        type = MessageStanza.Kind(type: message["type"]).rawValue
        messageID = message["id"] ?? ""
        originID = message.child("origin-id", "urn:xmpp:sid:0")?["id"]
        body = message.child("body", "jabber:client")?.text
        self.archive = archive?.key ?? (type == "groupchat" && direction == .incoming ? conversation : "")
        self.stanzaID = stanzaID
        archivedAt = at
        sentAt = at ?? Self.delay(in: message) ?? now
    }

    /// What a message of this client is known by: its origin-id, which is its id too.
    var ownID: String? { originID ?? (messageID.isEmpty ? nil : messageID) }

    /// Whether it can be a copy of a message of ours: sent by the account, or shown by the room that it was sent to. Anybody
    /// can write `groupchat` into a message, so the account's own archive shows ours only as sent by the account.
    var mayBeOwn: Bool { direction == .outgoing || !archive.isEmpty }

    /// Whether it is kept: it says something, or the archive thought it worth keeping.
    var isKept: Bool { body != nil || stanzaID != nil }

    /// When the message in a `<delay/>` (XEP-0203) was sent, in milliseconds since 1970.
    static func delay(in element: Element) -> Int64? {
        let stamp: Date? = element.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
        guard let date = stamp else { return nil }
        return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
    }

    private static func stanzaID(in message: Element, by archiver: JID) -> String? {
        for child in message.children where child.isNamed("stanza-id", "urn:xmpp:sid:0") {
            if let by = child["by"], JID.received(by) == archiver, let id = child["id"], Archive.isID(id) { return id }
        }
        return nil
    }
}
