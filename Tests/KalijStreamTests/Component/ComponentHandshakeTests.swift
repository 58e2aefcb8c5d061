import KalijStream
import KalijXML
import Testing

@Suite("XEP-0114: component connection")
struct ComponentHandshakeTests {
    private func header(_ attributes: String, namespace: String = "jabber:component:accept") throws -> Element {
        var found: Element?
        let text = """
            <stream:stream xmlns:stream='http://etherx.jabber.org/streams' xmlns='\(namespace)' \(attributes)>
            """
        try StreamParser().feed(Array(text.utf8)) { event in
            if case .opened(let element) = event { found = element }
        }
        return try #require(found)
    }

    private func element(_ text: String) throws -> Element { try Element.parse(text) }

    @Test("XEP-0114, 3: header, SHA-1 of stream id and secret in lower-case hex, acknowledgement")
    func example() throws {
        var handshake = ComponentHandshake(hostname: "plays.shakespeare.lit", key: "test")
        #expect(
            try handshake.handle(.connected) == [
                .send(
                    Array(
                        ("<?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' "
                            + "xmlns:stream='http://etherx.jabber.org/streams' to='plays.shakespeare.lit'>").utf8))
            ])
        // printf '3BF96D32test' | openssl sha1
        #expect(
            try handshake.handle(.opened(try header("from='plays.shakespeare.lit' id='3BF96D32'"))) == [
                .send(Array("<handshake>aaee83c26aeeafcbabeabfcbcd50df997e0a2a1e</handshake>".utf8))
            ])
        #expect(try handshake.handle(.element(try element("<handshake/>"))) == [.established])
    }

    @Test("a wrong key: not-authorized; the reason is said, the key is not")
    func wrongKey() throws {
        var handshake = ComponentHandshake(hostname: "p", key: "hush")
        _ = try handshake.handle(.connected)
        _ = try handshake.handle(.opened(try header("id='1'")))
        let error = try element(
            """
            <error xmlns='http://etherx.jabber.org/streams'><not-authorized \
            xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></error>
            """)
        #expect(throws: ComponentHandshake.Problem.stream(StreamError(.notAuthorized))) {
            try handshake.handle(.element(error))
        }
        #expect(throws: ComponentHandshake.Problem.self) { try handshake.handle(.connected) }
    }

    @Test("an operator's messages: the key, a name in use, an unknown name")
    func words() {
        let words = [StreamError(.notAuthorized), StreamError(.conflict), StreamError(.hostUnknown)]
            .map { ComponentHandshake.Problem.stream($0).description }
        #expect(words[0] == "the server does not accept the component's key, or does not know its name")
        #expect(words[1].hasPrefix("another component is connected under this name"))
        #expect(words[2].hasPrefix("the server does not know the component's name"))
    }

    @Test("a client port instead of the component port, a header without id, an end without a word")
    func wrong() throws {
        var client = ComponentHandshake(hostname: "p", key: "k")
        _ = try client.handle(.connected)
        #expect(throws: ComponentHandshake.Problem.self) {
            try client.handle(.opened(try header("id='1'", namespace: "jabber:client")))
        }
        var nameless = ComponentHandshake(hostname: "p", key: "k")
        _ = try nameless.handle(.connected)
        #expect(try nameless.handle(.opened(try header("from='p'"))) == [])
        var handshake = ComponentHandshake(hostname: "p", key: "k")
        _ = try handshake.handle(.connected)
        #expect(throws: ComponentHandshake.Problem.closed) { try handshake.handle(.closed) }
    }

    @Test("a name cannot break out of the header")
    func escaping() throws {
        var handshake = ComponentHandshake(hostname: "a' b='<", key: "k")
        guard case .send(let bytes) = try handshake.handle(.connected).first else { return }
        #expect(!String(decoding: bytes, as: UTF8.self).contains("b='<"))
    }
}
