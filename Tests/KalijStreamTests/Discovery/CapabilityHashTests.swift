import KalijXML
import Testing

@testable import KalijStream

@Suite("Hashes of capabilities")
struct CapabilityHashTests {
    private func info(_ xml: String) throws -> DiscoveryInfo {
        try #require(
            DiscoveryInfo(Element.parse("<query xmlns='http://jabber.org/protocol/disco#info'>\(xml)</query>")))
    }

    private func softwareHash(_ info: DiscoveryInfo, _ algorithm: String = "sha-1") -> String? {
        CapabilityHash(of: info, format: .software(node: "n"), algorithm: algorithm)?.value
    }

    private let exodus = """
        <identity category='client' type='pc' name='Exodus 0.9.1'/>
        <feature var='http://jabber.org/protocol/muc'/><feature var='http://jabber.org/protocol/disco#info'/>
        <feature var='http://jabber.org/protocol/disco#items'/><feature var='http://jabber.org/protocol/caps'/>
        """
    private let psi = """
        <identity xml:lang='en' category='client' name='Psi 0.11' type='pc'/>
        <identity xml:lang='el' category='client' name='\u{3a8} 0.11' type='pc'/>
        <feature var='http://jabber.org/protocol/caps'/><feature var='http://jabber.org/protocol/disco#info'/>
        <feature var='http://jabber.org/protocol/disco#items'/><feature var='http://jabber.org/protocol/muc'/>
        <x xmlns='jabber:x:data' type='result'>
        <field var='FORM_TYPE' type='hidden'><value>urn:xmpp:dataforms:softwareinfo</value></field>
        <field var='ip_version' type='text-multi'><value>ipv6</value><value>ipv4</value></field>
        <field var='software'><value>Psi</value></field><field var='software_version'><value>0.11</value></field>
        <field var='os_version'><value>10.5.1</value></field><field var='os'><value>Mac</value></field>
        </x>
        """

    @Test("XEP-0115 5.2: the simple example")
    func simple() throws {
        #expect(try softwareHash(info(exodus)) == "QgayPKawpkPSDYmwT/WM94uAlu0=")
    }

    @Test("XEP-0115 5.3: the complex example, in any order of its parts")
    func complex() throws {
        #expect(try softwareHash(info(psi)) == "q07IKJEyjvHSyhy//CH0CxmKi8w=")
    }

    @Test(
        "XEP-0115 5.4: ill-formed answers have no hash",
        arguments: [
            "<identity category='client' type='pc'/><identity category='client' type='pc'/>",
            "<feature var='a'/><feature var='a'/>",
            """
            <x xmlns='jabber:x:data' type='result'><field var='FORM_TYPE' type='hidden'><value>a</value></field></x>
            <x xmlns='jabber:x:data' type='result'><field var='FORM_TYPE' type='hidden'><value>a</value></field></x>
            """,
            """
            <x xmlns='jabber:x:data' type='result'>
            <field var='FORM_TYPE' type='hidden'><value>a</value><value>b</value></field></x>
            """,
        ])
    func illFormed(_ parts: String) throws {
        #expect(try softwareHash(info(parts)) == nil)
    }

    @Test("XEP-0115 5.4: a form without a hidden FORM_TYPE is ignored")
    func formWithoutType() throws {
        let form = "<x xmlns='jabber:x:data' type='result'><field var='a'><value>b</value></field></x>"
        #expect(try softwareHash(info(exodus + form)) == softwareHash(info(exodus)))
    }

    @Test("the preimage of XEP-0115: a separator inside a part, so two answers would have one hash")
    func separatorInside() throws {
        let honest = try info("<identity category='client' type='pc'/><feature var='a'/><feature var='b'/>")
        let forged = try info("<identity category='client' type='pc' name='&lt;a'/><feature var='b'/>")
        #expect(softwareHash(honest) != nil)
        #expect(softwareHash(forged) == nil)
    }

    @Test("identities are ordered by category, then type: `pc` before `pc-x`, though `-` precedes `/`")
    func orderOfIdentities() throws {
        let info = try info("<identity category='c' type='pc-x'/><identity category='c' type='pc'/>")
        let bytes = try #require(VerificationString.bytes(of: info))
        #expect(String(decoding: bytes, as: UTF8.self) == "c/pc//<c/pc-x//<")
    }

    @Test("XEP-0390 4.5.1: the simple example")
    func structuredSimple() throws {
        let features = [
            "http://jabber.org/protocol/si", "http://jabber.org/protocol/bytestreams",
            "http://jabber.org/protocol/chatstates", "http://jabber.org/protocol/disco#info",
            "http://jabber.org/protocol/disco#items", "urn:xmpp:ping", "jabber:iq:time", "jabber:iq:privacy",
            "jabber:iq:version", "http://jabber.org/protocol/rosterx", "urn:xmpp:time", "jabber:x:oob",
            "http://jabber.org/protocol/ibb", "http://jabber.org/protocol/si/profile/file-transfer",
            "urn:xmpp:receipts", "jabber:iq:roster", "jabber:iq:last",
        ]
        let info = DiscoveryInfo(
            identities: [.init(category: "client", type: "mobile", name: "BombusMod")], features: features)
        #expect(structuredHash(info, "sha-256") == "kzBZbkqJ3ADrj7v08reD1qcWUwNGHaidNUgD7nHpiw8=")
        #expect(structuredHash(info, "sha3-256") == "79mdYAfU9rEdTOcWDO7UEAt6E56SUzk/g6TnqUeuD9Q=")
    }

    @Test("XEP-0390 4.5.2: the complex example, with a form")
    func structuredComplex() throws {
        let features = [
            "games:board", "http://jabber.org/protocol/activity", "http://jabber.org/protocol/activity+notify",
            "http://jabber.org/protocol/bytestreams", "http://jabber.org/protocol/chatstates",
            "http://jabber.org/protocol/commands", "http://jabber.org/protocol/disco#info",
            "http://jabber.org/protocol/disco#items", "http://jabber.org/protocol/evil",
            "http://jabber.org/protocol/feature-neg", "http://jabber.org/protocol/geoloc",
            "http://jabber.org/protocol/geoloc+notify", "http://jabber.org/protocol/ibb",
            "http://jabber.org/protocol/iqibb", "http://jabber.org/protocol/mood",
            "http://jabber.org/protocol/mood+notify", "http://jabber.org/protocol/rosterx",
            "http://jabber.org/protocol/si", "http://jabber.org/protocol/si/profile/file-transfer",
            "http://jabber.org/protocol/tune", "http://www.facebook.com/xmpp/messages",
            "http://www.xmpp.org/extensions/xep-0084.html#ns-metadata+notify", "jabber:iq:avatar",
            "jabber:iq:browse", "jabber:iq:dtcp", "jabber:iq:filexfer", "jabber:iq:ibb", "jabber:iq:inband",
            "jabber:iq:jidlink", "jabber:iq:last", "jabber:iq:oob", "jabber:iq:privacy", "jabber:iq:roster",
            "jabber:iq:time", "jabber:iq:version", "jabber:x:data", "jabber:x:event", "jabber:x:oob",
            "urn:xmpp:avatar:metadata+notify", "urn:xmpp:ping", "urn:xmpp:receipts", "urn:xmpp:time",
        ]
        let form = DataForm(
            .result,
            fields: [
                .init("FORM_TYPE", .hidden, value: "urn:xmpp:dataforms:softwareinfo"),
                .init("software", value: "Tkabber"),
                .init("software_version", value: "0.11.1-svn-20111216-mod (Tcl/Tk 8.6b2)"),
                .init("os", value: "Windows"), .init("os_version", value: "XP"),
            ])
        let info = DiscoveryInfo(
            identities: [
                .init(category: "client", type: "pc", name: "Tkabber", language: "en"),
                .init(category: "client", type: "pc", name: "Ткаббер", language: "ru"),
            ], features: features, forms: [form])
        #expect(structuredHash(info, "sha-256") == "u79ZroNJbdSWhdSp311mddz44oHHPsEBntQ5b1jqBSY=")
        #expect(structuredHash(info, "sha3-256") == "XpUJzLAc93258sMECZ3FJpebkzuyNXDzRNwQog8eycg=")
        #expect(DiscoveryInfo(info.element()) == info)
    }

    private func structuredHash(_ info: DiscoveryInfo, _ algorithm: String) -> String? {
        CapabilityHash(of: info, format: .structured, algorithm: algorithm)?.value
    }

    @Test(
        "XEP-0390 4.1: answers with uncovered parts have no hash",
        arguments: [
            "<other xmlns='urn:other'/>",
            "<x xmlns='jabber:x:data' type='result'><field var='a'><value>b</value></field></x>",
            """
            <x xmlns='jabber:x:data' type='result'><field var='FORM_TYPE' type='hidden'><value>a</value></field>
            <item><field var='a'><value>b</value></field></item></x>
            """,
        ])
    func notCovered(_ parts: String) throws {
        #expect(try structuredHash(info(parts), "sha-256") == nil)
    }

    @Test("XEP-0390 4.1: the language in effect counts")
    func language() throws {
        let query = try Element.parse(
            "<query xmlns='http://jabber.org/protocol/disco#info'><identity category='c' type='t'/></query>")
        #expect(DiscoveryInfo(query, language: "en")?.identities.first?.language == "en")
    }

    @Test("a presence offers its hashes, the structured hash first, and hashes of unknown functions not at all")
    func presence() throws {
        let presence = try Element.parse(
            """
            <presence xmlns='jabber:client'>
            <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='http://psi-im.org' ver='q07I='/>
            <c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>kzBZ=</hash>
            <hash xmlns='urn:xmpp:hashes:2' algo='md5'>AAAA</hash></c></presence>
            """)
        let nodes = CapabilityHash.all(of: presence).map(\.node)
        #expect(nodes == ["urn:xmpp:caps#sha-256.kzBZ=", "http://psi-im.org#q07I="])
    }

    @Test("XEP-0115 5.4: only an answer with the announced hash is believed")
    func verification() throws {
        let presence = try Element.parse(
            """
            <presence xmlns='jabber:client'>
            <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='QgayPKawpkPSDYmwT/WM94uAlu0='/>
            </presence>
            """)
        let hash = try #require(CapabilityHash.all(of: presence).first)
        #expect(try hash.verifies(info(exodus)))
        #expect(try !hash.verifies(info(exodus + "<feature var='urn:more'/>")))
    }
}
