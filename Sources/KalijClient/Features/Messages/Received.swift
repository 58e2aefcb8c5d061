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
    let sender: JID
    let recipient: JID
    let type: String
    let messageID: String
    let originID: String?
    /// The id in the account's archive; nil if it has none that can be trusted.
    let stanzaID: String?
    let body: String?
    /// Milliseconds since 1970.
    let sentAt: Int64

    /// - Parameters:
    ///   - archived: id and stamp by the account's own archive, if the message comes from there.
    ///   - trustsArchive: whether disco showed that the account's archive stamps stanza-ids, so that one `by` the
    ///     account cannot be forged by a sender (XEP-0359, Security Considerations).
    init(_ message: Element, account: JID, archived: (id: String, at: Int64?)?, trustsArchive: Bool, now: Int64) {
        sender = message["from"].map(JID.received) ?? account
        recipient = message["to"].map(JID.received) ?? account
        direction = sender.bare == account ? .outgoing : .incoming
        type = MessageStanza.Kind(type: message["type"]).rawValue
        messageID = message["id"] ?? ""
        originID = message.child("origin-id", "urn:xmpp:sid:0")?["id"]
        body = message.child("body", "jabber:client")?.text
        let stamped = trustsArchive ? Self.stanzaID(in: message, by: account) : nil
        stanzaID = archived?.id ?? stamped
        sentAt = archived?.at ?? Self.delay(in: message) ?? now
    }

    /// The other side's bare address.
    var conversation: String { (direction == .incoming ? sender : recipient).bare.description }

    /// What a message of this client is known by: its origin-id, which is its id too.
    var ownID: String? { originID ?? (messageID.isEmpty ? nil : messageID) }

    /// Whether it is kept: it says something, or the archive thought it worth keeping.
    var isKept: Bool { body != nil || stanzaID != nil }

    /// When the message in a `<delay/>` (XEP-0203) was sent, in milliseconds since 1970.
    static func delay(in element: Element) -> Int64? {
        let stamp: Date? = element.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
        guard let date = stamp else { return nil }
        return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
    }

    private static func stanzaID(in message: Element, by account: JID) -> String? {
        for child in message.children where child.isNamed("stanza-id", "urn:xmpp:sid:0") {
            if let by = child["by"], JID.received(by) == account, let id = child["id"], !id.isEmpty { return id }
        }
        return nil
    }
}
