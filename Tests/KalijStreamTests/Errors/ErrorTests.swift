import KalijAddress
import KalijStream
import KalijXML
import Testing

@Suite("Errors of streams and stanzas")
struct ErrorTests {
    @Test("RFC 6120, 4.9.3: every condition is read and written", arguments: StreamError.Condition.allCases)
    func streamConditions(condition: StreamError.Condition) throws {
        let element = try #require(
            Element.parsed(
                "<error xmlns='http://etherx.jabber.org/streams'>"
                    + "<\(condition.rawValue) xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></error>"))
        let error = try #require(StreamError(element))
        #expect(error == StreamError(condition))
        #expect("\(error)" == "the server ended the stream: \(condition.rawValue)")
        #expect(
            String(decoding: error.bytes(), as: UTF8.self)
                == "<stream:error><\(condition.rawValue) xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
                + "</stream:stream>")
    }

    @Test("RFC 6120, 4.9.3.19 and 4.9.4: another host, an application's condition, a text")
    func streamDetails() throws {
        let element = try #require(
            Element.parsed(
                """
                <error xmlns='http://etherx.jabber.org/streams'>
                <see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>[2001:db8::1]:9222</see-other-host>
                <text xmlns='urn:ietf:params:xml:ns:xmpp-streams' xml:lang='en'>Over &lt;there&gt;\u{9}\u{7F}</text>
                <moved xmlns='urn:example:app'/></error>
                """))
        let error = try #require(StreamError(element))
        #expect(error.condition == .seeOtherHost && error.otherHost == "[2001:db8::1]:9222")
        #expect(error.application == "moved")
        #expect("\(error)" == "the server ended the stream: see-other-host, moved (Over <there>  )")
    }

    @Test("an unknown condition is undefined-condition; another element is no error")
    func unknownStreamError() throws {
        let odd = try #require(Element.parsed("<error xmlns='http://etherx.jabber.org/streams'><x xmlns='y'/></error>"))
        #expect(StreamError(odd) == StreamError(.undefinedCondition, application: "x"))
        let stanza = try #require(Element.parsed("<error xmlns='jabber:client'/>"))
        #expect(StreamError(stanza) == nil)
    }

    @Test("RFC 6120, 8.3.3: every condition is read and written", arguments: StanzaError.Condition.allCases)
    func stanzaConditions(condition: StanzaError.Condition) throws {
        for kind in StanzaError.Kind.allCases {
            let error = StanzaError(condition, kind: kind, text: "a < b", by: .received("muc.example.org"))
            #expect(StanzaError(error.element) == error)
        }
        #expect(StanzaError(StanzaError(condition).element)?.kind == condition.usualKind)
    }

    @Test("RFC 6120, 8.3: the error of a stanza")
    func stanzaDetails() throws {
        let stanza = try #require(
            Element.parsed(
                """
                <message type='error' from='a@b'><body>x</body><error type='modify' by='muc.example.org'>\
                <gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>xmpp:c@d</gone>\
                <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>Moved</text><why xmlns='urn:example:app'/>\
                </error></message>
                """))
        let error = try #require(StanzaError(stanza))
        #expect(error.kind == .modify && error.condition == .gone && error.newAddress == "xmpp:c@d")
        #expect(error.by == (try JID("muc.example.org")) && error.application == "why" && error.text == "Moved")
        for (xml, condition) in [
            ("<iq type='error'/>", StanzaError.Condition.undefinedCondition),
            ("<iq type='error'><error/></iq>", .undefinedCondition),
            ("<iq type='error'><error type='odd'><odd xmlns='x'/></error></iq>", .undefinedCondition),
        ] {
            let found = Element.parsed(xml).flatMap(StanzaError.init)
            #expect(found?.condition == condition && found?.kind == .cancel)
        }
        let result = try #require(Element.parsed("<iq type='result'><error/></iq>"))
        #expect(StanzaError(result) == nil)
    }

    @Test("RFC 6120, 8.3.1: the answer to a stanza; errors and results get none")
    func replies() throws {
        let error = StanzaError(.serviceUnavailable)
        let request = try #require(
            Element.parsed("<iq type='get' id='&amp;1' from='a@b/c' to='d@e/f'><query xmlns='x'/></iq>"))
        let reply = try #require(error.reply(to: request))
        #expect(reply.isNamed("iq", "jabber:client"))
        #expect(reply["type"] == "error" && reply["id"] == "&1" && reply["to"] == "a@b/c" && reply["from"] == nil)
        #expect(StanzaError(reply) == error)
        for xml in ["<iq type='result' id='1'/>", "<message type='error'/>", "<r xmlns='urn:xmpp:sm:3'/>"] {
            let element = try #require(Element.parsed(xml))
            #expect(error.reply(to: element) == nil)
        }
    }
}
