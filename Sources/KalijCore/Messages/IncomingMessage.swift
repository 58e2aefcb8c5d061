import KalijAddress
import KalijStore
import KalijStream
import KalijXML

import FoundationEssentials

/// A received message, with its parts.
public struct IncomingMessage {
    /// The source of a message.
    public enum Source: Sendable {
        /// The server, as a live delivery.
        case live
        /// The server, as a copy of a message that another client of the account has sent or received (XEP-0280).
        case carbon
        /// An archive, of the account or of a room (XEP-0313).
        case archive
    }

    /// The `<message/>`, without its wrapper.
    public package(set) var element: Element
    /// The source of this message.
    public let source: Source
    /// Whether another entity or the account wrote the message, on any client.
    public package(set) var direction: Direction
    /// The other side's bare address; of an occupant of a room, the full address.
    public package(set) var conversation: String
    /// The full address of the sender.
    public let sender: JID
    /// The full or bare address of the recipient.
    public let recipient: JID
    /// RFC 6121 5.2.2; an unknown type is `normal`.
    public let type: String
    /// The stanza's id, empty if there is none.
    public let messageID: String
    /// The sender's id of the message (XEP-0359).
    public let originID: String?
    /// The archive with the message, as ``Archive/key``.
    package let archive: String
    /// The id in that archive; nil if there is no trusted id.
    package let stanzaID: String?
    /// The text as it is shown (`MessageContent`): without fallbacks for other clients, nil if it is empty. A feature may replace the text.
    public var body: String?
    /// The file that the message shares, as far as it can be read; nil if it shares none.
    package var file: SharedFile?
    /// Milliseconds since 1970; the server's stamp, if there is one.
    public let sentAt: Int64
    /// The archive's stamp of a message shown by an archive; else nil.
    package let archivedAt: Int64?
    /// Whether an archive has shown the message as part of older history, on request.
    package var isOlder = false
    /// Whether the message is stored: at first, if it is a line, or has an archive's id.
    public var isKept: Bool
    /// Whether the message is a line of the conversation: at first, if it has content for people (`MessageContent`), which
    /// includes a file without a text. A stored message that is not shown changes another message, or has no content for people.
    public var isShown: Bool
    /// Whether a feature keeps the message, which is no line, because the message changes something. Then no other feature drops it.
    package var isNeeded = false
    /// Whether the message predates the account's presence in its room.
    package var isHistory = false
    /// Whether the account wrote the message in a room, on whatever client; nil if this was not determined.
    package var isOurs: Bool?
    /// The author of the message in a room, as far as proven; nil for messages outside of rooms.
    package var author: String?
    /// The id of the own message that a room has shown without the id.
    package var reflects: String?
    /// The id of the message that this message answers (XEP-0461).
    package var repliesTo: String?
    /// Whether the sender requests displayed markers for the message (XEP-0333).
    package var isMarkable = false
    /// How the message was encrypted, and whether it could be read; nil for a plain text in a plain conversation.
    package var encryption: MessageEncryption?
    /// Identifies the encrypted content, whichever source shows the message; nil if it is not encrypted.
    package var digest: [UInt8]?
    /// The row with the same encrypted content: from another source, or shown again by a server. Only the id and the place of this
    /// message count.
    package var twin: Int64?

    /// A message delivered by the server.
    /// - Parameter archiver: the address whose stanza-id counts; nil if none counts.
    package init(_ message: Element, _ source: Source, account: JID, stampedBy archiver: JID?, now: Int64) {
        self.init(
            message, source, account: account, archive: nil,
            stanzaID: archiver.flatMap { Self.stanzaID(in: message, by: $0) },
            at: nil, now: now)
    }

    /// - Parameters:
    ///   - archive: the archive that has shown the message, if any; `stanzaID` is the archive's id, and `at` the
    ///     archive's stamp.
    package init(
        _ message: Element, _ source: Source, account: JID, archive: Archive?, stanzaID: String?, at: Int64?, now: Int64
    ) {
        (element, self.source) = (message, source)
        sender = message["from"].map(JID.received) ?? account
        recipient = message["to"].map(JID.received) ?? account
        let author = sender.bare
        direction = author == account ? .outgoing : .incoming
        conversation = (direction == .incoming ? author : recipient.bare).description
        type = MessageKind(of: message).rawValue
        messageID = message["id"] ?? ""
        originID = message.child("origin-id", "urn:xmpp:sid:0")?["id"]
        body = nil
        self.archive = archive?.key ?? (type == "groupchat" && direction == .incoming ? conversation : "")
        self.stanzaID = stanzaID
        archivedAt = at
        // The sending cannot be later than the arrival, whatever a stamp contains.
        sentAt = at ?? Self.delay(in: message).map { min($0, now) } ?? now
        (isKept, isShown) = (stanzaID != nil, false)
    }

    /// The id of an own message: the origin-id, which is also the stanza's id.
    package var ownID: String? { reflects ?? originID ?? (messageID.isEmpty ? nil : messageID) }

    /// The time of sending in a `<delay/>` (XEP-0203), in milliseconds since 1970.
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
