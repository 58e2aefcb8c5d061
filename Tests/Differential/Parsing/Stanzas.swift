import TestSupport

/// Stanzas as servers send them, with random addresses, texts and identifiers.
enum Stanzas {
    private static let words = [
        "the", "server", "does", "not", "know", "l\u{FC}beck", "\u{43F}\u{440}\u{438}\u{432}\u{435}\u{442}", "今日は",
        "😀👍", "a &lt; b", "&amp;", "&quot;quoted&quot;", "don&apos;t", "\n", "x&#x20;y", "<![CDATA[<raw>]]>",
    ]

    /// A whole stream of `count` stanzas.
    static func stream(_ count: Int, _ random: inout Seeded) -> [UInt8] {
        var bytes = Array(
            ("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
                + " from='example.org' id='\(random.below(1_000_000))' version='1.0' xml:lang='en'>").utf8)
        bytes.append(contentsOf: features.utf8)
        for _ in 0..<count {
            bytes.append(contentsOf: stanza(&random).utf8)
            if random.chance(20) { bytes.append(contentsOf: "\n".utf8) }
        }
        bytes.append(contentsOf: "</stream:stream>".utf8)
        return bytes
    }

    private static let features = """
        <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-256</mechanism>\
        <mechanism>PLAIN</mechanism></mechanisms><sm xmlns="urn:xmpp:sm:3"/></stream:features>
        """

    private static func stanza(_ random: inout Seeded) -> String {
        switch random.below(6) {
        case 0: message(&random, archived: true)
        case 1: presence(&random)
        case 2: roster(&random)
        case 3: encrypted(&random)
        case 4: form(&random)
        default: message(&random, archived: false)
        }
    }

    private static func address(_ random: inout Seeded) -> String {
        random.pick(["romeo", "juliet", "b\u{F6}b"]) + "@example.org/"
            + random.pick(["phone", "L&apos;or", "\u{1F4BB}"])
    }

    private static func text(_ random: inout Seeded) -> String {
        (0...random.below(20)).map { _ in random.pick(words) }.joined(separator: " ")
    }

    private static func message(_ random: inout Seeded, archived: Bool) -> String {
        let inner =
            "<message xmlns='jabber:client' from='\(address(&random))' to=\"\(address(&random))\" type='chat' "
            + "xml:lang='\(random.pick(["en", "de"]))' id='\(random.next())'><body>\(text(&random))</body>"
            + "<stanza-id xmlns='urn:xmpp:sid:0' by='\(address(&random))' id='\(random.next())'/>"
            + "<html xmlns='http://jabber.org/protocol/xhtml-im'><body xmlns='http://www.w3.org/1999/xhtml'>"
            + "<p>mixed <em>content</em> and <br/>more\(text(&random))</p></body></html></message>"
        guard archived else { return inner }
        return "<message from='\(address(&random))'><result xmlns='urn:xmpp:mam:2' id='\(random.next())'>"
            + "<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2026-11-21T10:00:00Z'/>"
            + inner + "</forwarded></result></message>"
    }

    private static func presence(_ random: inout Seeded) -> String {
        "<presence from='\(address(&random))'><show>away</show><status>\(text(&random))</status>"
            + "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='urn:n' ver='\(random.next())='/>"
            + "<x xmlns='vcard-temp:x:update'><photo/></x></presence>"
    }

    private static func roster(_ random: inout Seeded) -> String {
        let items = (0..<random.below(60)).map { _ in
            "\n    <item jid='\(address(&random))' name=\"\(random.pick(["A\tB", "C&#10;D", "E\nF"]))\"><group>g</group></item>"
        }
        return
            "<iq type='result' id='\(random.next())'><query xmlns='jabber:iq:roster'>\(items.joined())\r\n</query></iq>"
    }

    private static func encrypted(_ random: inout Seeded) -> String {
        let payload = String(repeating: "QUJD\(random.next())", count: 1 + random.below(400))
        return "<message from='\(address(&random))'><o:encrypted xmlns:o='eu.siacs.conversations.axolotl'>"
            + "<o:header sid='1'><o:key rid='2' prekey='true'>\(payload)</o:key></o:header></o:encrypted></message>"
    }

    private static func form(_ random: inout Seeded) -> String {
        "<iq type='error'><query xmlns='jabber:iq:search'><x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE'>"
            + "<value>urn:x</value></field><field var='t'><value>\(text(&random))</value></field></x></query>"
            + "<error type='cancel'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
    }
}
