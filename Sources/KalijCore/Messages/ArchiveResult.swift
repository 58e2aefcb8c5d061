import KalijAddress
import KalijXML

/// A `<result/>` of an archive query (XEP-0313 section 5.1.2): what its stanza shows of the query, and of the archived message.
package enum ArchiveResult {
    /// The properties that all results of a page have in common.
    package struct Page: Equatable {
        package let sender: String?
        package let query: String
    }

    /// The page of a result; nil if the stanza is not a result.
    package static func page(of stanza: Element) -> Page? {
        guard stanza.isNamed("message"), let query = element(in: stanza)?["queryid"] else { return nil }
        return Page(sender: stanza["from"], query: query)
    }

    /// The `<result/>` in a message; nil if there is none.
    package static func element(in message: Element) -> Element? { message.child("result", "urn:xmpp:mam:2") }

    /// The archive that has sent a result. Results of the account's own archive have no sender or the account's address, those of a
    /// room's archive the room's address.
    package static func archive(of message: Element, to account: JID) -> Archive {
        guard let sender = message["from"].map(JID.received), sender != account else { return .own }
        return Archive(key: sender.description)
    }

    /// A result's name among those that could not be handled (``FailedResults``); nil for another stanza.
    package static func name(of stanza: Element, to account: JID) -> String? {
        element(in: stanza).flatMap { $0["id"] }.flatMap { archive(of: stanza, to: account).name(of: $0) }
    }

    /// The name of the archive result that corresponds to a live message, by its stanza-id (XEP-0359).
    package static func name(stamped message: Element, to account: JID) -> String? {
        let room = message["type"] == "groupchat" ? message["from"].map { JID.received($0).bare } : nil
        let (archiver, archive) = room.map { ($0, Archive(room: $0)) } ?? (account, .own)
        return message.children("stanza-id", "urn:xmpp:sid:0").first { $0["by"].map(JID.received) == archiver }
            .flatMap { $0["id"] }.flatMap { archive.name(of: $0) }
    }
}
