import FoundationEssentials
import KalijAddress
import KalijStream
import KalijText
import KalijXML

/// A message in an archive result (XEP-0313 section 4.2).
package struct ArchivedMessage {
    package let archive: Archive
    /// The archive's id of the message.
    package let id: String
    /// The archive's stamp, in milliseconds since 1970.
    package let at: Int64?
    package let message: Element

    /// Whether the archive is authoritative for the message. The account's own server is for every message of the account. A room is
    /// only for messages sent in the room, because the operator of the room controls its archive.
    package var isOfItsArchive: Bool {
        archive.isOwn
            || message["type"] == "groupchat"
                && message["from"].map { JID.received($0).bare.description.exact } == archive.key.exact
    }

    /// Parses a `<result/>`; nil if it contains no message.
    package init?(_ result: Element, of archive: Archive) {
        guard let id = result["id"], Archive.isID(id), let forwarded = result.child("forwarded", "urn:xmpp:forward:0"),
            let message = forwarded.child("message", "jabber:client")
        else { return nil }
        self.archive = archive
        self.id = id
        at = IncomingMessage.delay(in: forwarded)
        self.message = message
    }

    /// Sets the crash marker, before features process the message.
    package func mark(_ step: Step) {
        step.mark?.set(resultCalled: id, of: archive, account: step.account.id)
    }
}

extension Archive {
    /// The name of the result with this id in ``FailedResults``: a hash, because ids have any length and any characters.
    package func name(of id: String) -> String? { Self.name(ofPlain: "\(key) \(id)") }

    /// - Parameter plain: the key of the archive, a space, and the id.
    static func name(ofPlain plain: String) -> String? {
        (try? HashFunction.sha256.hash(Array(plain.utf8))).map { Data($0).base64EncodedString() }
    }
}

extension IncomingMessage {
    /// A message returned by an archive.
    package init(_ archived: ArchivedMessage, account: JID, now: Int64) {
        self.init(
            archived.message, .archive, account: account, archive: archived.archive, stanzaID: archived.id,
            at: archived.at,
            now: now)
    }
}
