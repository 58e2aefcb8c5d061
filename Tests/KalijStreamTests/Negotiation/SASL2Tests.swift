import KalijStream
import Testing

@Suite("SASL2, Bind 2")
struct SASL2Tests {
    private static let request =
        "C: <authenticate xmlns='urn:xmpp:sasl:2' mechanism='SCRAM-SHA-256-PLUS'>"
        + "<initial-response>{\(SASLExchange.bound.first)}</initial-response>"
        + "<user-agent id='d4565fa7-4d72-4749-b3d3-740edbf87770'><software>Kalij</software></user-agent>"

    /// To the point where the plan is made.
    private static func planned(_ plan: String, _ inline: String, offer: Offer = .modern) -> String {
        Script.secured + offer.line + "! plan\n* plan \(plan)\n" + request + inline + "</authenticate>\n"
    }

    private static let resume = "<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>"
    private static let token = "<request-token xmlns='urn:xmpp:fast:0' mechanism='HT-SHA-256-EXPR'/>"
    private static let identity =
        "<authorization-identifier>user@example.org/kalij.x</authorization-identifier>"
    private static let enabled = "<enabled xmlns='urn:xmpp:sm:3' id='sm-1' resume='true' max='300'/>"

    private static func bound(_ content: String) -> String {
        identity + "<bound xmlns='urn:xmpp:bind:0'>\(content)</bound>"
    }

    private static func bind(_ content: String) -> String {
        "<bind xmlns='urn:xmpp:bind:0'><tag>Kalij</tag>\(content)</bind>"
    }

    private let transcript = Transcript(.modern(), bindings: Offer.both)

    @Test("XEP-0388, 0386, 0198 section 9: a new session together with the login")
    func bound() throws {
        let bind = Self.bind(
            "<enable xmlns='urn:xmpp:sm:3' max='600' resume='true'/><enable xmlns='urn:xmpp:carbons:2'/>"
                + "<inactive xmlns='urn:xmpp:csi:0'/>")
        let played = try transcript.play(
            Self.planned("bind carbons inactive max=600", bind + Self.token)
                + SASLExchange.bound.toSuccess(isSASL2: true, content: Self.bound(Self.enabled)) + """
                    ! bound user@example.org/kalij.x carbons
                    ! enabled sm-1 300 -
                    ! established
                    """)
        #expect(played.login?.pins == DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter, isSASL2: true))
        #expect(played.negotiation.suspect == nil && !played.negotiation.isResumePending)
    }

    @Test("a former session is resumed; the plan for a new session is ignored")
    func resumed() throws {
        let inline = Self.resume + Self.bind("<enable xmlns='urn:xmpp:sm:3' resume='true'/>") + Self.token
        let resumed = "<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>"
        try transcript.play(
            Self.planned("resume=id:3 bind", inline)
                + SASLExchange.bound.toSuccess(isSASL2: true, content: resumed) + "! resumed 7\n! established\n")
    }

    @Test("the former session is lost: the new one in the same answer, in any order")
    func resumeFailed() throws {
        let inline = Self.resume + Self.bind("<enable xmlns='urn:xmpp:sm:3' resume='true'/>") + Self.token
        // Prosody wraps the condition.
        let failed =
            "<failed xmlns='urn:xmpp:sm:3' h='5'><error><item-not-found "
            + "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></failed>"
        for content in [failed + Self.bound(Self.enabled), Self.bound(Self.enabled) + failed] {
            try transcript.play(
                Self.planned("resume=id:3 bind", inline)
                    + SASLExchange.bound.toSuccess(isSASL2: true, content: content) + """
                        ! resume failed 5 item-not-found
                        ! bound user@example.org/kalij.x
                        ! enabled sm-1 300 -
                        ! established
                        """)
        }
    }

    @Test("the former session is lost, and no other was planned: the owner is asked once more")
    func resumeFailedWithoutBind() throws {
        let failed = "<failed xmlns='urn:xmpp:sm:3'/>"
        let script =
            Self.planned("resume=id:3", Self.resume + Self.token)
            + SASLExchange.bound.toSuccess(isSASL2: true, content: failed) + """
                ! resume failed unknown undefined-condition
                S: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>
                ! offered
                ! plan

                """
        try transcript.play(script + "* plan bind\nC: ANY\n")
        #expect(throws: NegotiationError.self) { try transcript.play(script + "* plan resume=id:3\n") }
    }

    @Test("without inline features the session goes by steps, on the same stream")
    func bySteps() throws {
        var offer = Offer.modern
        (offer.inline, offer.fast) = ([], [])
        try transcript.play(
            Self.planned("resume=id:3 bind", "", offer: offer) + SASLExchange.bound.toSuccess(isSASL2: true) + """
                S: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/>\
                </stream:features>
                ! offered
                ! plan
                * plan resume=id:3
                C: <resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>
                S: <resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>
                ! resumed 7
                ! established
                """)
    }

    @Test("bound without stream management: enabled by the features, or not at all")
    func enabledLater() throws {
        var offer = Offer.modern
        (offer.inline, offer.fast) = (["bind"], [])
        let script =
            Self.planned("bind carbons max=60", Self.bind(""), offer: offer)
            + SASLExchange.bound.toSuccess(isSASL2: true, content: Self.bound("")) + """
                ! bound user@example.org/kalij.x
                S: <message/>
                ! stanza message

                """
        try transcript.play(script + "S: <stream:features/>\n! offered\n! established\n")
        try transcript.play(
            script + """
                S: <stream:features><sm xmlns='urn:xmpp:sm:3'/></stream:features>
                ! offered
                C: <enable xmlns='urn:xmpp:sm:3' max='60' resume='true'/>
                S: \(Self.enabled)
                ! enabled sm-1 300 -
                ! established
                """)
    }

    @Test("enabling fails; binding fails")
    func failures() throws {
        let begin = Self.planned(
            "bind", Self.bind("<enable xmlns='urn:xmpp:sm:3' resume='true'/>") + Self.token)
        let content = Self.bound("<failed xmlns='urn:xmpp:sm:3'/>")
        try transcript.play(
            begin + SASLExchange.bound.toSuccess(isSASL2: true, content: content) + """
                ! bound user@example.org/kalij.x
                ! enable failed undefined-condition
                ! established
                """)
        let failed =
            "<failed xmlns='urn:xmpp:bind:0'><error type='wait'><resource-constraint "
            + "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></failed>"
        let played = transcript.outcome(begin + SASLExchange.bound.toSuccess(isSASL2: true, content: failed))
        #expect(played.error == .bind(StanzaError(.resourceConstraint, kind: .wait)))
    }

    @Test("incredible successes")
    func wrong() throws {
        let begin =
            Self.planned(
                "resume=id:3 bind",
                Self.resume + Self.bind("<enable xmlns='urn:xmpp:sm:3' resume='true'/>") + Self.token)
            + "S: <challenge xmlns='urn:xmpp:sasl:2'>{\(SASLExchange.challenge)}</challenge>\nC: ANY\n"
        let data = "<additional-data>{\(SASLExchange.bound.signature)}</additional-data>"
        let other = "<authorization-identifier>other@example.org</authorization-identifier>"
        for content in [
            "", Self.identity, data, data + other,
            "<additional-data>{v=AAAA}</additional-data>" + Self.identity,
            "<additional-data>*</additional-data>" + Self.identity,
            data + Self.identity + "<resumed xmlns='urn:xmpp:sm:3' h='7' previd='other'/>",
            data + Self.identity + "<resumed xmlns='urn:xmpp:sm:3' previd='id'/>",
            data
                + "<authorization-identifier>user@example.org</authorization-identifier><bound xmlns='urn:xmpp:bind:0'/>",
        ] {
            let played = transcript.outcome(
                begin + "S: <success xmlns='urn:xmpp:sasl:2'>\(content)</success>\n")
            #expect(played.error != nil, "\(content)")
        }
        // Of the other profile, or of no use.
        for element in [
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.signature)}</success>",
            "<continue xmlns='urn:xmpp:sasl:2'><tasks><task>TOTP</task></tasks></continue>", "<message/>",
            "<failure xmlns='urn:xmpp:sasl:2'><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>",
        ] {
            #expect(transcript.outcome(begin + "S: \(element)\n").error != nil)
        }
    }

    @Test("XEP-0388 section 2.6.2: a refusal, with its words")
    func refused() throws {
        let failure =
            "S: <failure xmlns='urn:xmpp:sasl:2'><account-disabled xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"
            + "<text>Gone.</text></failure>\n"
        let played = transcript.outcome(Self.planned("", Self.token) + failure)
        #expect(played.error == .sasl(SASLError(.accountDisabled, text: "Gone.")))
    }

    @Test("a <resume/> counts as pending from the proof to the success")
    func pending() throws {
        let begin = Self.planned("resume=id:3", Self.resume + Self.token)
        let challenge = "S: <challenge xmlns='urn:xmpp:sasl:2'>{\(SASLExchange.challenge)}</challenge>\nC: ANY\n"
        #expect(!(try transcript.play(begin).negotiation.isResumePending))
        #expect(try transcript.play(begin + challenge).negotiation.isResumePending)
        let refused = transcript.outcome(
            begin + challenge
                + "S: <failure xmlns='urn:xmpp:sasl:2'><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>\n"
        )
        #expect(refused.error != nil && !refused.negotiation.isResumePending)
    }
}
