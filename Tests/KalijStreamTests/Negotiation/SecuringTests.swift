import KalijAddress
import KalijStream
import KalijXML
import Testing

@Suite("TLS before everything else")
struct SecuringTests {
    @Test("RFC 6120, 4.7 and 5.4: STARTTLS; the account is not named outside TLS")
    func startTLS() throws {
        try Transcript().play(
            """
            * connected
            C: <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' version='1.0' xml:lang='en' to='example.org'>
            S: <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='1' version='1.0'>
            S: <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>
            C: <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
            S: <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
            ! start TLS
            * secured
            ! restart parser
            C: <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' version='1.0' xml:lang='en' to='example.org' \
            from='user@example.org'>
            """)
    }

    @Test("XEP-0368: direct TLS")
    func directTLS() throws {
        try Transcript().play(
            """
            * connected secured
            C: SECURED
            S: HEADER
            S: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
            <mechanism>SCRAM-SHA-1</mechanism></mechanisms></stream:features>
            C: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='SCRAM-SHA-1'>\
            {n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL}</auth>
            """)
    }

    @Test("RFC 7590, 3.1: a server without STARTTLS is left, with any other offers")
    func notOffered() throws {
        #expect(throws: NegotiationError.tlsNotOffered) {
            try Transcript().play(
                """
                * connected
                C: HEADER>
                S: HEADER
                S: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                <mechanism>PLAIN</mechanism></mechanisms></stream:features>
                """)
        }
    }

    @Test("RFC 6120, 5.4.2.2: the server refuses TLS")
    func refused() throws {
        #expect(throws: NegotiationError.tlsRefused) {
            try Transcript().play(Script.startTLS + "S: <failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>\n")
        }
    }

    @Test(
        "elements sent in the clear after <proceed/> are not believed, not even an error",
        arguments: [
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
            "<stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>evil.example</see-other-host>"
                + "</stream:error>",
        ])
    func injected(xml: String) throws {
        let injected = try #require(Element.parsed(xml))
        var negotiation = try Transcript().play(Script.startTLS + Script.proceed).negotiation
        do {
            _ = try negotiation.handle(.element(injected))
            Issue.record("believed")
        } catch {
            guard case .unexpected = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(throws: NegotiationError.self, "after an error nothing works") {
            try negotiation.handle(.secured(ChannelBindings([:])))
        }
    }

    @Test("an authentication outside TLS is refused, though the server reports a success")
    func successInTheClear() throws {
        for script in ["* connected\nC: HEADER>\nS: HEADER\n", Script.startTLS] {
            #expect(throws: NegotiationError.self) {
                try Transcript().play(script + "S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>\n")
            }
        }
    }

    @Test(
        "RFC 6120, 4.7: faults of a stream header",
        arguments: [
            ("from='example.net' version='1.0'", "it speaks for \"example.net\", not for \"example.org\""),
            ("from='a@example.org' version='1.0'", "it speaks for"), ("from='' version='1.0'", "it speaks for"),
            ("from='example.org'", "no version"), ("from='example.org' version='0.9'", "version \"0.9\""),
            ("from='example.org' version='1'", "version \"1\""), ("from='example.org' version='-1.0'", "version"),
        ])
    func headers(attributes: String, problem: String) throws {
        do {
            try Transcript().play(
                """
                * connected
                C: HEADER>
                S: <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \(attributes)>
                S: <stream:features/>
                """)
            Issue.record("accepted: \(attributes)")
        } catch NegotiationError.invalidHeader(let text) {
            #expect(text.contains(problem))
        }
    }

    @Test("a header without an address, in another spelling, or of a later version is accepted")
    func otherHeaders() throws {
        for attributes in ["version='1.0'", "from='EXAMPLE.org' version='1.0'", "from='example.org' version='1.5'"] {
            try Transcript().play(
                """
                * connected
                C: HEADER>
                S: <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \(attributes)>
                S: <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
                C: <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
                """)
        }
    }

    @Test("a stream other than XMPP's", arguments: ["<html>", "<stream xmlns='jabber:client'>", "<a xmlns='b'>"])
    func noStream(header: String) throws {
        #expect(throws: NegotiationError.self) { try Transcript().play("* connected\nC: HEADER>\nS: \(header)\n") }
    }

    @Test("RFC 6120, 4.9: a stream error explains more than the header before")
    func streamErrors() throws {
        let error = StreamError(.hostUnknown, text: "No such host")
        #expect(throws: NegotiationError.stream(error)) {
            try Transcript().play(
                """
                * connected
                C: HEADER>
                S: <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0' \
                from='example.net'>
                S: <stream:error><host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>\
                <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>No such host</text></stream:error>
                """)
        }
    }

    @Test("the server closes the connection: the error names our activity")
    func closed() throws {
        for (script, words) in [
            ("* connected\nC: HEADER>\n", "waiting for its stream header"), (Script.startTLS, "asking for encryption"),
            (Script.startTLS + Script.proceed, "setting up encryption"), (Script.authenticated, "choosing a session"),
        ] {
            var negotiation = try Transcript().play(script).negotiation
            do {
                _ = try negotiation.handle(.closed)
                Issue.record("nothing was thrown")
            } catch {
                #expect("\(error)".contains(words))
            }
        }
    }

    @Test("the owner's mistakes are errors")
    func misuse() throws {
        let none = ChannelBindings([:])
        let connected = Negotiation.Event.connected(secured: none, known: KnownServer())
        for events: [Negotiation.Event] in [
            [.secured(none)], [connected, connected], [.planned(SessionPlan())],
            [connected, .planned(SessionPlan(words: ["bind"]))],
        ] {
            var negotiation = Negotiation(.test())
            #expect(throws: NegotiationError.self) { for event in events { _ = try negotiation.handle(event) } }
        }
        for account in ["example.org", "a b@example.org"] {
            var negotiation = Negotiation(.test(account: .received(account)))
            #expect(throws: NegotiationError.self) { try negotiation.handle(connected) }
        }
        var odd = Negotiation.Configuration.test()
        odd.language = "en' to='x"
        var negotiation = Negotiation(odd)
        #expect(throws: NegotiationError.self) { try negotiation.handle(connected) }
    }
}
