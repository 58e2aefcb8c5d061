import KalijAddress
import KalijStream
import Testing

@Suite("Resuming, binding, enabling")
struct SessionTests {
    private static let bound =
        """
        * plan bind=balcony
        C: <iq id='bind' type='set'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
        <resource>balcony</resource></bind></iq>
        S: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
        <jid>user@example.org/balcony</jid></bind></iq>
        ! bound user@example.org/balcony

        """

    @Test("XEP-0198, 5: a session is resumed")
    func resumed() throws {
        let played = try Transcript().play(
            Script.authenticated
                + """
                * plan resume=a<b:4294967295
                C: <resume xmlns='urn:xmpp:sm:3' h='4294967295' previd='a&lt;b'/>
                S: <resumed xmlns='urn:xmpp:sm:3' h='7' previd='a&lt;b'/>
                ! resumed 7
                ! established
                """)
        #expect(!played.negotiation.isResumePending)
    }

    @Test("XEP-0198, 5: the session is gone, with and without a count; then a new one on the same stream")
    func resumeFailed() throws {
        for (attributes, child, expected) in [
            ("h='5'", "<item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>", "5 item-not-found"),
            ("", "<item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>", "unknown item-not-found"),
            ("h='-1'", "", "unknown undefined-condition"),
        ] {
            try Transcript().play(
                Script.authenticated
                    + """
                    * plan resume=id:3
                    C: <resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>
                    S: <failed xmlns='urn:xmpp:sm:3' \(attributes)>\(child)</failed>
                    ! resume failed \(expected)
                    ! plan

                    """ + Self.bound + "C: ANY\n")
        }
    }

    @Test("a second attempt to resume on the same stream is the owner's mistake")
    func resumeTwice() throws {
        #expect(throws: NegotiationError.self) {
            try Transcript().play(
                Script.authenticated
                    + """
                    * plan resume=id:3
                    C: ANY
                    S: <failed xmlns='urn:xmpp:sm:3'/>
                    ! resume failed unknown undefined-condition
                    ! plan
                    * plan resume=id:3
                    """)
        }
    }

    @Test("incredible answers to <resume/>")
    func wrongResumed() throws {
        for answer in [
            "<resumed xmlns='urn:xmpp:sm:3' h='7' previd='other'/>", "<resumed xmlns='urn:xmpp:sm:3' h='7'/>",
            "<resumed xmlns='urn:xmpp:sm:3' previd='id'/>", "<resumed xmlns='urn:xmpp:sm:3' previd='id' h='x'/>",
            "<resumed xmlns='urn:xmpp:sm:3' previd='id' h='4294967296'/>", "<enabled xmlns='urn:xmpp:sm:3'/>",
            "<message/>", "<resumed xmlns='urn:xmpp:sm:2' h='7' previd='id'/>",
        ] {
            #expect(throws: NegotiationError.self, "\(answer)") {
                try Transcript().play(Script.authenticated + "* plan resume=id:3\nC: ANY\nS: \(answer)\n")
            }
        }
    }

    @Test("a connection that ends between <resume/> and its answer is distinguished")
    func closedWhileResuming() throws {
        var negotiation = try Transcript().play(Script.authenticated + "* plan resume=id:3\nC: ANY\n").negotiation
        #expect(negotiation.isResumePending)
        #expect(throws: NegotiationError.closed(during: "resuming a session")) { try negotiation.handle(.closed) }
        #expect(negotiation.isResumePending)
    }

    @Test("a server without stream management is not asked to resume")
    func resumeNotOffered() throws {
        try Transcript().play(
            Script.authenticated(features: "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>")
                + "* plan resume=id:3\n! resume failed unknown feature-not-implemented\n! plan\n" + Self.bound
                + "! established\n")
    }

    @Test("RFC 6120, 7, and XEP-0198, 3: a new resumable session")
    func enabled() throws {
        try Transcript().play(
            Script.authenticated + Self.bound.replacing("bind=balcony", with: "bind=balcony max=600")
                + """
                C: <enable xmlns='urn:xmpp:sm:3' max='600' resume='true'/>
                S: <enabled xmlns='urn:xmpp:sm:3' id='sm-1' resume='1' max='300' location='[2001:db8::1]:5222'/>
                ! enabled sm-1 300 [2001:db8::1]:5222
                ! established
                """)
    }

    @Test("XEP-0198, 3: without resume='true' there is nothing to be resumed, whatever the id says")
    func enabledOnly() throws {
        for attributes in ["id='sm-1'", "", "id='sm-1' resume='false'", "resume='true'", "id='' resume='true' max='0'"]
        {
            try Transcript().play(
                Script.authenticated + Self.bound
                    + """
                    C: <enable xmlns='urn:xmpp:sm:3' resume='true'/>
                    S: <enabled xmlns='urn:xmpp:sm:3' \(attributes)/>
                    ! enabled - - -
                    ! established
                    """)
        }
    }

    @Test("XEP-0198, 6: enabling fails, the session goes on")
    func enableFailed() throws {
        try Transcript().play(
            Script.authenticated + Self.bound
                + """
                C: <enable xmlns='urn:xmpp:sm:3' resume='true'/>
                S: <failed xmlns='urn:xmpp:sm:3'><internal-server-error \
                xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
                ! enable failed internal-server-error
                ! established
                """)
    }

    @Test("no session is wanted: what comes is of no interest")
    func unwanted() throws {
        try Transcript().play(Script.authenticated + "* plan\nS: <message/>\n")
    }

    @Test("XEP-0198, 4: stanzas before <enabled/> are handed on, not counted")
    func earlyStanzas() throws {
        try Transcript().play(
            Script.authenticated + Self.bound
                + """
                C: ANY
                S: <presence from='user@example.org/other'/>
                ! stanza presence
                S: <message><body>early</body></message>
                ! stanza message
                S: <enabled xmlns='urn:xmpp:sm:3' id='sm-1' resume='true'/>
                ! enabled sm-1 - -
                ! established
                """)
    }

    @Test("the server names the resource")
    func serverNames() throws {
        try Transcript().play(
            Script.authenticated
                + """
                * plan bind
                C: <iq id='bind' type='set'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>
                S: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                <jid>user@example.org/♚ 1</jid></bind></iq>
                ! bound user@example.org/♚ 1
                C: ANY
                """)
    }

    @Test("RFC 6120, 7.6.2: the server refuses the resource")
    func bindRefused() throws {
        #expect(throws: NegotiationError.bind(StanzaError(.notAllowed, kind: .cancel, text: "Taken"))) {
            try Transcript().play(
                Script.authenticated
                    + """
                    * plan bind=balcony
                    C: ANY
                    S: <iq type='error' id='bind'><error type='cancel'>\
                    <not-allowed xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
                    <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>Taken</text></error></iq>
                    """)
        }
    }

    @Test("RFC 6120, 7.7.2.2: a resource that is taken is not asked for again: the server chooses one")
    func resourceTaken() throws {
        try Transcript().play(
            Script.authenticated
                + """
                * plan bind=balcony
                C: ANY
                S: <iq type='error' id='bind'><error type='modify'>\
                <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                C: <iq id='bind' type='set'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>
                S: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                <jid>user@example.org/other</jid></bind></iq>
                ! bound user@example.org/other
                C: ANY

                """)
    }

    @Test("incredible answers to the binding")
    func wrongBind() throws {
        func result(_ jid: String) -> String {
            "<iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>\(jid)</jid></bind></iq>"
        }
        for answer in [
            result("user@example.org"), result(""), result("other@example.org/balcony"), result("a b@c/d"),
            "<iq type='result' id='bind'/>", "<iq type='result'/>", "<iq type='get' id='bind'/>", "<message/>",
            "<iq type='result' id='other'/>",
        ] {
            #expect(throws: NegotiationError.self, "\(answer)") {
                try Transcript().play(Script.authenticated + "* plan bind=balcony\nC: ANY\nS: \(answer)\n")
            }
        }
        let elsewhere = try JID("other@example.org/balcony")
        #expect(throws: NegotiationError.boundElsewhere(elsewhere)) {
            try Transcript().play(
                Script.authenticated + "* plan bind=balcony\nC: ANY\nS: \(result("other@example.org/balcony"))\n")
        }
    }

    @Test("RFC 3921's <session/> is not asked for")
    func legacySession() throws {
        try Transcript().play(
            Script.authenticated(
                features: "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
                    + "<session xmlns='urn:ietf:params:xml:ns:xmpp-session'><optional/></session>")
                + Self.bound + "! established\n")
    }

    @Test("a stream error at any point")
    func streamError() throws {
        for script in [
            Script.authenticated + "* plan resume=id:3\nC: ANY\n", Script.authenticated + Self.bound + "C: ANY\n",
        ] {
            #expect(throws: NegotiationError.stream(StreamError(.systemShutdown))) {
                try Transcript().play(
                    script
                        + "S: <stream:error><system-shutdown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>\n"
                )
            }
        }
    }
}
