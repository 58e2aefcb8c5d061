import KalijStream
import Testing

@Suite("Channel binding")
struct ChannelBindingTests {
    @Test("RFC 5802, 7, with RFC 9266 and RFC 5929: the data is in the proof (computed with Python's hashlib)")
    func vectors() throws {
        for (binding, exchange) in [
            (SCRAM.Binding.bound(.tlsExporter, (0..<32).map { $0 }), SASLExchange.bound),
            (.bound(.tlsServerEndPoint, [UInt8](repeating: 0xAB, count: 32)), .certified), (.unsupported, .unbound),
        ] {
            var scram = try SCRAM(
                mechanism: .scramSHA256, username: "user", credentials: .password("pencil"),
                nonce: "fyko+d2lbbFgONRv9qkxdawL", binding: binding)
            #expect(scram.firstMessage == exchange.first)
            #expect(try scram.respond(to: SASLExchange.challenge) == exchange.proof)
            try scram.verify(exchange.signature)
        }
    }

    @Test("what is chosen of an offer (XEP-0440 section 5)")
    func choice() throws {
        func offer(_ change: (inout Offer) -> Void) -> Offer {
            var offer = Offer()
            change(&offer)
            return offer
        }
        let unknownKind = offer { $0.bindings = ["tls-unique", "tls-server-end-point"] }
        let plusForOne = offer { $0.sasl = ["SCRAM-SHA-1-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1"] }
        for (offer, bindings, mechanism, flag) in [
            (Offer(), Offer.both, "SCRAM-SHA-256-PLUS", "p=tls-exporter"),
            (Offer(), Offer.endPoint, "SCRAM-SHA-256-PLUS", "p=tls-server-end-point"),
            (Offer(), ChannelBindings([:]), "SCRAM-SHA-256", "n"),
            // ejabberd 23.01: mechanisms with binding that cannot work.
            (.old, Offer.both, "SCRAM-SHA-256", "n"), (.unbound, Offer.both, "SCRAM-SHA-256", "y"),
            (.unbound, ChannelBindings([:]), "SCRAM-SHA-256", "n"), (unknownKind, Offer.exporter, "SCRAM-SHA-256", "n"),
            // Binding counts for more than the hash function.
            (plusForOne, Offer.both, "SCRAM-SHA-1-PLUS", "p=tls-exporter"),
        ] {
            try Transcript(.modern(), bindings: bindings).play(
                Script.secured + offer.line + "C: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' "
                    + "mechanism='\(mechanism)'>{\(flag),,n=user,r=fyko+d2lbbFgONRv9qkxdawL}</auth>\n")
        }
    }

    @Test("a login is bound, and pinned to the kind; a later login may be bound better, not worse")
    func pinned() throws {
        let login = SASLExchange.certified.toSuccess(isSASL2: false) + "! next stream\nC: SECURED\n"
        let played = try Transcript(bindings: Offer.endPoint).play(Script.secured + Offer().line + "C: ANY\n" + login)
        let pins = DowngradePins(mechanism: .scramSHA256, binding: .tlsServerEndPoint)
        #expect(played.login?.pins == pins)
        #expect(played.known.login?.binding == .tlsServerEndPoint)
        let better = SASLExchange.bound.toSuccess(isSASL2: false) + "! next stream\nC: SECURED\n"
        let next = try Transcript(.test(pins: pins), bindings: Offer.both).play(
            Script.secured + Offer().line + "C: ANY\n" + better)
        #expect(next.login?.pins == DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter))
    }

    @Test("XEP-0474: a right hash lets the pins follow the list")
    func genuine() throws {
        // sha256("PLAIN\x1eSCRAM-SHA-1\x1eSCRAM-SHA-256")
        let hash = "J++Diu+JubnE6dLVvZjjI5KHnheOLsUSQWiw/prdbAA="
        let challenge = SASLExchange.challenge + ",h=" + hash
        let strict = DowngradePins(mechanism: .scramSHA512, binding: .tlsExporter)
        let script =
            Script.secured + Offer.unbound.line + "C: ANY\n"
            + "S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(challenge)}</challenge>\n"
        let played = try Transcript(.test(pins: strict), bindings: Offer.both).play(
            script + """
                C: ANY
                S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{v=L4QjW80WpeJM26VoRudTdbbGly0U7vEbBvS0E4M5aHE=}</success>
                ! authenticated SCRAM-SHA-256 with keys
                ! next stream
                C: SECURED
                """)
        #expect(played.login?.pins == DowngradePins(mechanism: .scramSHA256))
    }

    @Test("no data of a connection is in a description")
    func redaction() {
        var dumped = ""
        dump(Offer.both, to: &dumped)
        #expect(!"\(Offer.both) \(dumped)".contains("171") && "\(Offer.both)" == "tls-exporter, tls-server-end-point")
    }
}
