import KalijStream
import Testing

@Suite("Authentication on the stream")
struct AuthenticatingTests {
    @Test("RFC 6120, 6.4, with RFC 5802, 5: SCRAM-SHA-1, then a new stream")
    func scram() throws {
        let played = try Transcript().play(
            Script.secured
                + """
                S: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                <mechanism>PLAIN</mechanism><mechanism>SCRAM-SHA-1</mechanism></mechanisms></stream:features>
                C: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='SCRAM-SHA-1'>\
                {n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL}</auth>
                S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                {r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096}</challenge>
                C: <response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                {c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=}</response>
                S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{v=rmF9pqV8S7suAoZWja4dJRkFsKQ=}</success>
                ! authenticated SCRAM-SHA-1 with keys
                ! next stream
                C: SECURED
                S: HEADER
                S: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>
                ! offered
                ! plan
                """)
        #expect(played.keys?.iterations == 4096)
    }

    @Test("the stored keys log in like the password")
    func keys() throws {
        let keys = try #require(try Transcript().play(Script.authenticated).keys)
        try Transcript(.test(credentials: .keys(keys), pins: DowngradePins(mechanism: .scramSHA1))).play(
            Script.authenticated)
    }

    @Test("RFC 4616: PLAIN, inside TLS, where the server offers nothing better")
    func plain() throws {
        let played = try Transcript().play(
            Script.mechanisms(["PLAIN"])
                + """
                C: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{\u{0}user\u{0}pencil}</auth>
                S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
                ! authenticated PLAIN without keys
                ! next stream
                C: SECURED
                """)
        #expect(played.keys == nil)
        #expect(throws: NegotiationError.self, "a challenge that PLAIN does not have") {
            try Transcript().play(
                Script.mechanisms(["PLAIN"]) + "C: ANY\nS: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>\n")
        }
    }

    @Test("the server's final message in a challenge, and an empty success")
    func finalInChallenge() throws {
        try Transcript().play(
            Script.proven
                + """
                S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{v=rmF9pqV8S7suAoZWja4dJRkFsKQ=}</challenge>
                C: <response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
                S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
                ! authenticated SCRAM-SHA-1 with keys
                ! next stream
                C: SECURED
                """)
    }

    @Test("RFC 5802, 5: a success without the server's signature, or with a wrong signature, is no success")
    func signatures() throws {
        for (data, error) in [
            ("", AuthenticationError.missingServerSignature), ("=", .missingServerSignature),
            ("{v=rmF9pqV8S7suAoZWja4dJRkFsKA=}", .wrongServerSignature),
            ("*", .invalidMessage("it is no text in Base64")), ("/w==", .invalidMessage("it is no text in Base64")),
        ] {
            #expect(throws: NegotiationError.authentication(error)) {
                try Transcript().play(
                    Script.proven + "S: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(data)</success>\n")
            }
        }
        // Success before we have proven anything, and before the server has said anything.
        #expect(throws: NegotiationError.authentication(.missingServerSignature)) {
            try Transcript().play(
                Script.mechanisms(["SCRAM-SHA-1"]) + "C: ANY\nS: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>\n")
        }
    }

    @Test("a nonce of another, an unaffordable iteration count: the server's message is refused")
    func challenges() throws {
        for message in [
            "r=other,s=QSXCR+Q6sek8bf92,i=4096", "r=fyko+d2lbbFgONRv9qkxdawLx,s=QSXCR+Q6sek8bf92,i=1",
            "r=fyko+d2lbbFgONRv9qkxdawLx,s=QSXCR+Q6sek8bf92,i=2000000000",
        ] {
            #expect(throws: NegotiationError.self) {
                try Transcript().play(
                    Script.mechanisms(["SCRAM-SHA-1"])
                        + "C: ANY\nS: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(message)}</challenge>\n")
            }
        }
    }

    @Test("a downgrade: an attacker who removes mechanisms from the list gets no login after the first")
    func downgrade() throws {
        let pinned = Transcript(.test(pins: DowngradePins(mechanism: .scramSHA256)))
        let offered = ["PLAIN", "SCRAM-SHA-1"]
        let refusal = NegotiationError.authentication(.onlyWeakerMechanisms(offered: offered, pinned: .scramSHA256))
        // The exchange begins, because the server may prove that the list is genuine; the proof does not leave.
        let challenge =
            "S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
            + "{r=fyko+d2lbbFgONRv9qkxdawL3rfc,s=QSXCR+Q6sek8bf92,i=4096}</challenge>\n"
        let played = pinned.outcome(Script.mechanisms(offered) + "C: ANY\n" + challenge)
        #expect(played.error == refusal && !played.sent.contains("<response"))
        #expect(
            throws: NegotiationError.authentication(.onlyWeakerMechanisms(offered: ["PLAIN"], pinned: .scramSHA256))
        ) {
            try pinned.play(Script.mechanisms(["PLAIN"]))
        }
        try pinned.play(Script.mechanisms(["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"]) + "C: ANY\n")
    }

    @Test("keys whose mechanism is gone: the password is needed")
    func passwordNeeded() throws {
        let keys = try #require(try Transcript().play(Script.authenticated).keys)
        for offered in [["SCRAM-SHA-256"], ["PLAIN"]] {
            do {
                try Transcript(.test(credentials: .keys(keys))).play(Script.mechanisms(offered))
                Issue.record("logged in with \(offered)")
            } catch let error as NegotiationError {
                #expect(error.needsPassword && !error.isRefusal)
            }
        }
    }

    @Test("no mechanisms, empty mechanisms, unknown mechanisms")
    func noMechanism() throws {
        for features in [
            "<stream:features/>",
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></stream:features>",
            "<stream:features><mechanisms xmlns='x'><mechanism>PLAIN</mechanism></mechanisms></stream:features>",
        ] {
            #expect(throws: NegotiationError.authentication(.noMechanism(offered: []))) {
                try Transcript().play(Script.secured + "S: \(features)\n")
            }
        }
        #expect(throws: NegotiationError.authentication(.noMechanism(offered: ["EXTERNAL"]))) {
            try Transcript().play(Script.mechanisms(["EXTERNAL"]))
        }
    }

    @Test("RFC 6120, 6.5: the server refuses", arguments: SASLError.Condition.allCases)
    func failures(condition: SASLError.Condition) throws {
        let error = SASLError(condition, text: "No.")
        #expect(throws: NegotiationError.sasl(error)) {
            try Transcript().play(
                Script.proven
                    + "S: <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><\(condition.rawValue)/>"
                    + "<text xml:lang='en'>No.</text></failure>\n")
        }
        let refusals: [SASLError.Condition] = [.notAuthorized, .accountDisabled, .credentialsExpired, .invalidAuthzid]
        #expect(NegotiationError.sasl(error).isRefusal == refusals.contains(condition))
        #expect(error.isTemporary == (condition == .temporaryAuthFailure))
    }

    @Test("a failure with an unknown condition")
    func unknownFailure() throws {
        #expect(throws: NegotiationError.sasl(SASLError(nil))) {
            try Transcript().play(
                Script.proven + "S: <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><bad-auth/></failure>\n")
        }
    }
}
