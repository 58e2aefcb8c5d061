import KalijAddress
import KalijStore
import KalijStream
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message that has come, taken apart.
public struct IncomingMessage {
    /// What brought a message.
    public enum Source: Sendable {
        /// The server, as it was sent.
        case live
        /// The server, as a copy of what another client of the account has sent or got (XEP-0280).
        case carbon
        /// An archive, of the account or of a room (XEP-0313).
        case archive
    }

    /// The `<message/>`, without its wrapper.
    public let element: Element
    /// The way that the message came.
    public let source: Source
    /// Whether somebody else wrote it, or the account, on whatever client.
    public let direction: Direction
    /// The other side's bare address.
    public let conversation: String
    /// The full address of whoever sent it.
    public let sender: JID
    /// The address that the message was sent to.
    public let recipient: JID
    /// RFC 6121 5.2.2; an unknown one is `normal`.
    public let type: String
    /// The stanza's id, empty if it has none.
    public let messageID: String
    /// The id that its sender gave it (XEP-0359).
    public let originID: String?
    /// Whose archive it belongs to, as ``Archive/key``.
    package let archive: String
    /// The id in that archive; nil if it has none that can be trusted.
    package let stanzaID: String?
    /// What it says. A feature may find that it says something else than the stanza shows.
    public var body: String?
    /// Milliseconds since 1970; as the server stamped it, if it did.
    public let sentAt: Int64
    /// When the archive that shows it says that it was archived; nil if none does.
    package let archivedAt: Int64?
    /// Whether it is stored: at first, if it says something, or if an archive thought it worth keeping.
    public var isKept: Bool

    /// A message that the server delivered.
    /// - Parameter archiver: whose stanza-id counts; nil if nobody's does.
    package init(_ message: Element, _ source: Source, account: JID, stampedBy archiver: JID?, now: Int64) {
        self.init(
            message, source, account: account, archive: nil,
            stanzaID: archiver.flatMap { Self.stanzaID(in: message, by: $0) },
            at: nil, now: now)
    }

    /// - Parameters:
    ///   - archive: the one that has shown it, if one has; `stanzaID` is the id there, and `at` the stamp.
    package init(
        _ message: Element, _ source: Source, account: JID, archive: Archive?, stanzaID: String?, at: Int64?, now: Int64
    ) {
        (element, self.source) = (message, source)
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
        isKept = body != nil || stanzaID != nil
    }

    /// What a message of this client is known by: its origin-id, which is its id too.
    package var ownID: String? { originID ?? (messageID.isEmpty ? nil : messageID) }

    /// Whether it can be a copy of a message of ours: sent by the account, or shown by the room that it was sent to. Anybody
    /// can write `groupchat` into a message, so the account's own archive shows ours only as sent by the account.
    package var mayBeOwn: Bool { direction == .outgoing || !archive.isEmpty }

    /// When the message in a `<delay/>` (XEP-0203) was sent, in milliseconds since 1970.
    package static func delay(in element: Element) -> Int64? {
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
