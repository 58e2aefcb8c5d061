import KalijAddress
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The software of other entities, as in the standards: its answers, and the hash in its presence.
enum Software {
    static let exodusHash = "QgayPKawpkPSDYmwT/WM94uAlu0="
    /// XEP-0115 section 5.2.
    static let exodus = """
        <identity category='client' type='pc' name='Exodus 0.9.1'/>
        <feature var='http://jabber.org/protocol/muc'/><feature var='http://jabber.org/protocol/disco#info'/>
        <feature var='http://jabber.org/protocol/disco#items'/><feature var='http://jabber.org/protocol/caps'/>
        """
    static let bombusHash = "kzBZbkqJ3ADrj7v08reD1qcWUwNGHaidNUgD7nHpiw8="
    /// XEP-0390 section 4.5.1.
    static let bombus =
        "<identity category='client' name='BombusMod' type='mobile'/>"
        + [
            "http://jabber.org/protocol/si", "http://jabber.org/protocol/bytestreams",
            "http://jabber.org/protocol/chatstates", "http://jabber.org/protocol/disco#info",
            "http://jabber.org/protocol/disco#items", "urn:xmpp:ping", "jabber:iq:time", "jabber:iq:privacy",
            "jabber:iq:version", "http://jabber.org/protocol/rosterx", "urn:xmpp:time", "jabber:x:oob",
            "http://jabber.org/protocol/ibb", "http://jabber.org/protocol/si/profile/file-transfer",
            "urn:xmpp:receipts", "jabber:iq:roster", "jabber:iq:last",
        ].map { "<feature var='\($0)'/>" }.joined()

    static func presence(_ from: String, ver: String = exodusHash, hash: String = "sha-1") -> String {
        """
        <presence from='\(from)'><c xmlns='http://jabber.org/protocol/caps' hash='\(hash)' \
        node='http://code.google.com/p/exodus' ver='\(ver)'/></presence>
        """
    }

    static func presence2(_ from: String, _ hash: String = bombusHash) -> String {
        """
        <presence from='\(from)'><c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>\(hash)\
        </hash></c></presence>
        """
    }
}

extension StepHarness {
    /// A contact to whom we have written sends presence.
    func meet(_ presence: String) throws {
        let sender = try JID(try #require(try Element.parse(presence)["from"])).bare.description
        try database.run(
            """
            INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type,
                shown, sent_at, state)
            SELECT ?1, 'out', ?2, 0, '', 'hello', ?3, ?2, 'chat', 1, 0, 'acked'
            WHERE NOT EXISTS (SELECT 1 FROM message WHERE conversation = ?2)
            """, [.integer(account.id), .text(sender), .text(account.jid.description)])
        try receive(presence)
    }

    /// The receivers of the open questions about hashes, oldest first.
    func askedAboutHashes() throws -> [String] {
        try waiting("discovery.capabilities").map { try #require(try request($0)["to"]) }
    }

    /// `jid` answers the question about the hash.
    func answer(_ jid: String, _ info: String?, language: String? = nil) throws {
        let id = try #require(try waiting("discovery.capabilities").last { try request($0)["to"] == jid })
        let answer =
            info.map { "<query xmlns='http://jabber.org/protocol/disco#info'>\($0)</query>" }
                ?? """
                <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>
                """
        let language = language.map { " xml:lang='\($0)'" } ?? ""
        try receive("<iq type='\(info == nil ? "error" : "result")' id='\(id)' from='\(jid)'\(language)>\(answer)</iq>")
        // An answered question has left the queue.
        try database.run("DELETE FROM queue WHERE request = ?", [.text(id)])
    }

    func knows(_ jid: String, _ feature: String) throws -> Bool? {
        try perform { try $0.discovery.supports(feature, .received(jid)) }
    }

    func supporting(_ feature: String, of contact: String? = nil) throws -> [String] {
        try perform { step in
            try step.discovery.entities(supporting: feature, of: contact.map { .received($0) }).map(\.description)
        }
    }
}
