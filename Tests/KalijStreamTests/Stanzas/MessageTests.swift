import KalijAddress
import KalijStream
import KalijXML
import Testing

@Suite("Messages (RFC 6121, 5.2)")
struct MessageTests {
    private func message(_ xml: String) throws -> MessageStanza { try MessageStanza(try #require(Element.parsed(xml))) }

    @Test("5.2.2: the types; without a type, or with an unknown type, a message is of type \"normal\"")
    func kinds() throws {
        for kind in MessageStanza.Kind.allCases {
            #expect(try message("<message type='\(kind.rawValue)'/>").kind == kind)
            let made = MessageStanza(kind)
            #expect(made.kind == kind)
            #expect(made.element["type"] == (kind == .normal ? nil : kind.rawValue))
        }
        #expect(try message("<message/>").kind == .normal)
        #expect(try message("<message type='shout'/>").kind == .normal)
        #expect(try message("<message type='CHAT'/>").kind == .normal)
        #expect(MessageStanza.Kind(type: nil) == .normal && MessageStanza.Kind(type: "headline") == .headline)
    }

    @Test("5.2.3: bodies in several languages")
    func bodies() throws {
        let message = try message(
            """
            <message from='juliet@example.com/balcony' id='z94nb37h' to='romeo@example.net' type='chat' xml:lang='en'>\
            <body>Wherefore art thou, Romeo?</body>\
            <body xml:lang='cs'>PročeŽ jsi ty, Romeo?</body></message>
            """)
        #expect(message.from == (try JID("juliet@example.com/balcony")))
        #expect(message.to == (try JID("romeo@example.net")))
        #expect(message.id == "z94nb37h" && message.language == "en")
        #expect(message.body == "Wherefore art thou, Romeo?")
        #expect(message.bodies.languages == ["en", "cs"])
        #expect(message.bodies["cs"] == "PročeŽ jsi ty, Romeo?")
        #expect(message.bodies["EN"] == "Wherefore art thou, Romeo?")
        #expect(message.bodies["de"] == nil)
        #expect(message.bodies.best(for: "cs-CZ") == "PročeŽ jsi ty, Romeo?")
        #expect(message.bodies.best(for: "cs-x-private") == "PročeŽ jsi ty, Romeo?")
        #expect(message.bodies.best(for: "de") == "Wherefore art thou, Romeo?")
    }

    @Test("RFC 4647, 3.4: a language is looked up from the longest tag to the shortest")
    func lookup() throws {
        let message = try message(
            "<message><body>any</body><body xml:lang='zh-Hant'>b</body><body xml:lang='zh'>c</body></message>")
        #expect(message.bodies.best(for: "zh-Hant-CN-x-private1-private2") == "b")
        #expect(message.bodies.best(for: "zh-Hans") == "c")
        #expect(message.bodies.best(for: "de-DE") == "any")
        #expect(message.bodies.best(for: "") == "any")
        #expect(message.bodies.languages == [nil, "zh-Hant", "zh"])
    }

    @Test("5.2.4 and 5.2.5: subject, thread and the thread's parent")
    func parts() throws {
        let message = try message(
            """
            <message><subject>I implore you!</subject><subject xml:lang='cs'>Úpěnlivě prosím!</subject>\
            <thread parent='e0ffe42b28561960c6b12b944a092794b9683a38'>0e3141cd80894871a68e6fe6b1ec56fa</thread>\
            <body/></message>
            """)
        #expect(message.subject == "I implore you!" && message.subjects["cs"] == "Úpěnlivě prosím!")
        let thread = MessageStanza.Thread(
            id: "0e3141cd80894871a68e6fe6b1ec56fa", parent: "e0ffe42b28561960c6b12b944a092794b9683a38")
        #expect(message.thread == thread)
        #expect(message.body == "")
        #expect(try self.message("<message/>").body == nil)
    }

    @Test("a view is a reference: a set value is in the element, once")
    func changes() throws {
        let message = MessageStanza(.chat, to: try JID("romeo@example.net"), id: "1", body: "a")
        message.body = "b"
        message.bodies["de"] = "c"
        message.bodies["de"] = "d"
        message.subject = ""
        message.thread = .init(id: "t")
        message.thread = .init(id: "u", parent: "t")
        message.language = "en"
        let written = """
            <message xmlns='jabber:client' id='1' to='romeo@example.net' type='chat' xml:lang='en'><body>b</body>\
            <body xml:lang='de'>d</body><subject/><thread parent='t'>u</thread></message>
            """
        #expect(message.description == (try Element.parse(written)).description)
        message.bodies["en"] = "e"
        #expect(message.body == "e")
        message.body = "f"
        #expect(message.element.children("body").map(\.text) == ["f"])
        message.body = nil
        message.bodies["de"] = nil
        message.thread = nil
        message.to = nil
        #expect(message.body == nil && message.thread == nil && message.to == nil && message.subject == "")
    }

    @Test("messages are messages in any namespace of stanzas, and nothing else is")
    func otherElements() throws {
        for namespace in ["jabber:client", "jabber:server", "jabber:component:accept"] {
            let message = try MessageStanza(
                Element("message", xmlns: namespace, children: [Element("body", text: "x")]))
            #expect(message.body == "x")
        }
        let errors: [(Element, String)] = [
            (Element("iq", xmlns: "jabber:client"), "found <iq/> in jabber:client"),
            (Element("message", xmlns: "urn:x"), "found <message/> in urn:x"),
            (Element("message"), "found <message/> in no namespace"),
        ]
        for (element, text) in errors {
            let error = #expect(throws: StanzaFormatError.self) { try MessageStanza(element) }
            #expect(error?.description == "expected <message/> in a namespace of stanzas, \(text)")
        }
    }

    @Test("a body in another namespace does not count (XEP-0071 has such a body)")
    func foreignBody() throws {
        let message = try message("<message><body xmlns='http://www.w3.org/1999/xhtml'>x</body></message>")
        #expect(message.body == nil && message.bodies.languages == [])
    }
}
