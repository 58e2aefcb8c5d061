import KalijAddress
import KalijStream
import KalijXML
import Testing

@Suite("IQs (RFC 6120, 8.2.3)")
struct IQTests {
    private func iq(_ xml: String) throws -> IQStanza { try IQStanza(try #require(Element.parsed(xml))) }

    @Test("the types, and how many payloads each has")
    func kinds() throws {
        #expect(try iq("<iq type='get' id='1'><q xmlns='u'/></iq>").kind == .get)
        #expect(try iq("<iq type='set' id='1'><q xmlns='u'/></iq>").kind == .set)
        #expect(try iq("<iq type='result' id='1'/>").kind == .result)
        #expect(try iq("<iq type='result' id='1'><q xmlns='u'/></iq>").payload?.name == "q")
        let error = try iq("<iq type='error' id='1'><q xmlns='u'/><error type='wait'/></iq>")
        #expect(error.kind == .error && error.payload?.name == "q")
        #expect(try iq("<iq type='error' id='1'><error type='wait'/></iq>").payload == nil)
    }

    @Test(
        "iqs that break the rules, to be answered with bad-request",
        arguments: [
            ("<iq id='1'><q xmlns='u'/></iq>", StanzaFormatError.unknownType(stanza: "iq", type: nil)),
            ("<iq id='1' type='ask'><q xmlns='u'/></iq>", .unknownType(stanza: "iq", type: "ask")),
            ("<iq type='get'><q xmlns='u'/></iq>", .missingID),
            ("<iq type='get' id='1'/>", .payloadCount(0, type: "get")),
            ("<iq type='set' id='1'><a xmlns='u'/><b xmlns='u'/></iq>", .payloadCount(2, type: "set")),
            ("<iq type='result' id='1'><a xmlns='u'/><b xmlns='u'/></iq>", .payloadCount(2, type: "result")),
            ("<message/>", .notThisStanza("iq", found: "message", namespace: "jabber:client")),
        ])
    func refused(xml: String, expected: StanzaFormatError) throws {
        let error = #expect(throws: StanzaFormatError.self) { try iq(xml) }
        #expect(error == expected)
        #expect(error?.description.contains("iq") == true)
    }

    @Test("a request and its result: addresses swapped, the id kept")
    func answers() throws {
        let request = IQStanza(
            .get, Element("query", xmlns: "jabber:iq:roster"), to: try JID("juliet@example.com"), id: "hf61v3n7")
        request.from = try JID("juliet@example.com/balcony")
        #expect(
            request.description == """
                <iq xmlns='jabber:client' from='juliet@example.com/balcony' id='hf61v3n7' to='juliet@example.com' \
                type='get'><query xmlns='jabber:iq:roster'/></iq>
                """)
        let result = try IQStanza(try #require(request.result(Element("query", xmlns: "jabber:iq:roster"))))
        #expect(result.kind == .result && result.id == request.id)
        #expect(result.to == request.from && result.from == request.to)
        #expect(result.payload?.namespace == "jabber:iq:roster")
        #expect(result.result() == nil && request.result()?.children.isEmpty == true)
    }

    @Test("8.3.1: a failure has the addresses swapped, the same id and an error; errors and results get none")
    func failures() throws {
        let request = try IQStanza(
            try Element.parse(
                """
                <iq xmlns='jabber:server' type='set' id='4' from='romeo@example.net/orchard' to='muc.example.com'>\
                <x xmlns='urn:x'/></iq>
                """))
        let condition = Element("too-many-parameters", xmlns: "http://example.org/ns")
        let error = StanzaError(
            .badRequest, text: "Some special words", language: "en", by: try JID("muc.example.com"))
        let failure = try #require(request.failure(error, application: condition))
        #expect(
            failure.description == """
                <iq xmlns='jabber:server' from='muc.example.com' id='4' to='romeo@example.net/orchard' type='error'>\
                <error by='muc.example.com' type='modify'><bad-request xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
                <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas' xml:lang='en'>Some special words</text>\
                <too-many-parameters xmlns='http://example.org/ns'/></error></iq>
                """)
        let read = try IQStanza(failure)
        #expect(read.error?.condition == .badRequest && read.error?.kind == .modify)
        #expect(read.error?.text == "Some special words" && read.error?.language == "en")
        #expect(read.error?.application == "too-many-parameters")
        #expect(read.applicationCondition == condition)
        #expect(read.failure(error) == nil)
        #expect(try iq("<iq type='result' id='1'/>").failure(error) == nil)
        #expect(request.error == nil && request.applicationCondition == nil)
    }

    @Test("8.3.1: messages and presences are answered likewise, without an id if there is none")
    func otherFailures() throws {
        let message = try MessageStanza(
            try #require(Element.parsed("<message from='a@b' to='c@d' type='chat'><body>x</body></message>")))
        let failure = try MessageStanza(try #require(message.failure(StanzaError(.gone, newAddress: "xmpp:e@f"))))
        #expect(failure.kind == .error && failure.id == nil && failure.body == nil)
        #expect(failure.error?.newAddress == "xmpp:e@f" && failure.to == message.from)
        #expect(failure.failure(StanzaError(.gone)) == nil)
        let presence = PresenceStanza(.subscribe, to: try JID("c@d"))
        #expect(try PresenceStanza(try #require(presence.failure(StanzaError(.forbidden)))).kind == .error)
    }
}
