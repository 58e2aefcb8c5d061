import KalijStream
import Testing

@Suite("Letters that leave unasked")
struct EarlyStepTests {
    private static let startTLS = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
    private static let offersTLS = "<stream:features>\(startTLS)</stream:features>"
    private static let proceed = "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
    private static let auth =
        "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='SCRAM-SHA-256-PLUS'>{\(SASLExchange.bound.first)}</auth>"
    private static let challenge =
        "S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.challenge)}</challenge>\n"
    private static let success =
        "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.signature)}</success>"
    private static let session =
        "<stream:features><sm xmlns='urn:xmpp:sm:3'/><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>"

    private static func known(_ change: (inout KnownServer) -> Void = { _ in }) -> KnownServer {
        var known = KnownServer.learned(Offer(), Offer.both, .test())
        change(&known)
        return known
    }

    private static func transcript(_ known: KnownServer = known()) -> Transcript {
        Transcript(
            .test(pins: DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter)), bindings: Offer.both,
            known: known)
    }

    /// To our proof with `<resume/>` in the same write.
    private static let flown = """
        * connected secured
        C: UNDECLARED\(auth)
        S: HEADER\(Offer().features)
        \(challenge)! plan
        * plan resume=id:3
        C: <response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.proof)}</response>\
        UNDECLARED<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>

        """

    @Test("(a) header and <starttls/> in one write; the server's offer is checked all the same")
    func startTLS() throws {
        let transcript = Self.transcript(Self.known { $0.offersTLS = true })
        let begin = "* connected\nC: BARE>\(Self.startTLS)\nS: HEADER\n"
        #expect(try transcript.play(begin).negotiation.suspect == .startTLS)
        let played = try transcript.play(
            begin + "S: \(Self.offersTLS)\nS: \(Self.proceed)\n! start TLS\n* secured\n! restart parser\nC: ANY\n")
        #expect(played.negotiation.suspect == .login)
        for (answer, error) in [
            ("<stream:features/>", NegotiationError.tlsNotOffered),
            (Self.offersTLS + "<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", .tlsRefused),
        ] {
            let played = transcript.outcome(begin + "S: \(answer)\n")
            #expect(played.error == error && played.negotiation.suspect == .startTLS)
        }
        let early = transcript.outcome(begin + "S: \(Self.proceed)\n")
        #expect(early.error != nil, "<proceed/> without an offer")
    }

    @Test("STARTTLS is known to work after a login, not after a promise")
    func learnsTLS() throws {
        let start =
            Script.startTLS + Script.proceed + "* secured\n! restart parser\nC: SECURED\nS: HEADER\n" + Offer().line
        let transcript = Transcript(bindings: Offer.both)
        #expect(try transcript.play(start + "C: ANY\n").known == KnownServer())
        let known = try transcript.play(
            start + "C: ANY\n" + SASLExchange.bound.toSuccess(isSASL2: false) + "! next stream\nC: SECURED\n"
        ).known
        #expect(known.offersTLS && !known.features.isEmpty)
        #expect(known.login == KnownServer.Login(mechanism: .scramSHA256, binding: .tlsExporter, inline: []))
    }

    @Test("(b) header and <auth/> in one write")
    func login() throws {
        let begin = "* connected secured\nC: UNDECLARED\(Self.auth)\n"
        let transcript = Self.transcript(Self.known { $0.off = [.resume] })
        #expect(try transcript.play(begin).negotiation.suspect == .login)
        let played = try transcript.play(
            begin + "S: HEADER\(Offer().features)\n" + SASLExchange.bound.toSuccess(isSASL2: false)
                + "! next stream\n! plan\n* plan bind\nC: SECURED\nS: HEADER\(Self.session)\n! offered\n! plan\n")
        #expect(played.negotiation.suspect == nil)
    }

    @Test("refused before any challenge, (b) may have been too early; an account that is disabled stays so by steps")
    func refusedAtOnce() {
        for (condition, suspect) in [("not-authorized", EarlyStep?.some(.login)), ("account-disabled", nil)] {
            let refused = Self.transcript().outcome(
                "* connected secured\nC: UNDECLARED\(Self.auth)\nS: HEADER\(Offer().features)"
                    + "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><\(condition)/></failure>\n")
            #expect(refused.error?.isRefusal == true && refused.negotiation.suspect == suspect)
        }
    }

    @Test("a login leaves unasked only as it was, and never PLAIN")
    func conditions() throws {
        let keys = SCRAMKeys(mechanism: .scramSHA1, salt: [1], iterations: 4096, clientKey: [], serverKey: [])
        let cases: [(KnownServer, Negotiation.Configuration, ChannelBindings)] = [
            (Self.known { $0.off = [.login] }, Negotiation.Configuration.test(), Offer.both),
            (Self.known { $0.login = KnownServer.Login(mechanism: .plain) }, .test(), Offer.both),
            (Self.known(), .test(), Offer.endPoint), (Self.known(), .test(credentials: .keys(keys)), Offer.both),
            (Self.known(), .test(pins: DowngradePins(mechanism: .scramSHA512)), Offer.both),
            (Self.known { $0.login?.binding = nil }, .test(pins: DowngradePins(binding: .tlsExporter)), Offer.both),
            (Self.known(), .modern(pins: DowngradePins(isSASL2: true)), Offer.both),
            (Self.known { $0.login?.isSASL2 = true }, .test(), Offer.both), (KnownServer(), .test(), Offer.both),
        ]
        for (known, configuration, bindings) in cases {
            try Transcript(configuration, bindings: bindings, known: known).play("* connected secured\nC: SECURED\n")
        }
    }

    @Test("the server's features do not hold what was used: no proof leaves, and the letter is to blame")
    func changed() throws {
        for edit in [
            Edit("SHA-1 alone") { $0.sasl = ["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"] },
            Edit("SHA-512 as well") { $0.sasl += ["SCRAM-SHA-512-PLUS"] }, Edit("SASL2 as well") { $0.sasl2 = $0.sasl },
        ] {
            var offer = Offer()
            edit.change(&offer)
            let configuration = Negotiation.Configuration.modern()
            let played = Transcript(configuration, bindings: Offer.both, known: Self.known()).outcome(
                "* connected secured\nC: UNDECLARED\(Self.auth)\nS: HEADER\(offer.features)\n" + Self.challenge)
            #expect(played.error == .authentication(.offerChanged) && played.negotiation.suspect == .login)
            #expect(!played.sent.contains("<response"))
        }
    }

    @Test("off until the features change")
    func turnedOff() throws {
        let off = Self.known().turningOff(.login).turningOff(.resume)
        #expect(off.off == [.login, .resume])
        var other = Offer()
        other.sasl.append("SCRAM-SHA-512")
        let end = SASLExchange.bound.toSuccess(isSASL2: false) + "! next stream\n! plan\n* plan bind\nC: SECURED\n"
        let unchanged: Set<EarlyStep> = [.login, .resume]
        for (offer, left) in [(Offer(), unchanged), (other, Set())] {
            let played = try Self.transcript(off).play(Script.secured + offer.line + "C: ANY\n" + end)
            #expect(played.known.off == left)
        }
        // The order of a list is no change.
        var shuffled = Offer()
        shuffled.sasl.reverse()
        let played = try Self.transcript(off).play(Script.secured + shuffled.line + "C: ANY\n" + end)
        #expect(played.known == off)
    }

    @Test("(c) response, header and <resume/> in one write; the server's bytes after <success/> are the new stream")
    func resume() throws {
        let transcript = Self.transcript()
        let sent = try transcript.play(Self.flown)
        #expect(sent.negotiation.suspect == .resume && !sent.negotiation.isResumePending)
        let played = try transcript.play(
            Self.flown
                + "S: \(Self.success)HEADER\(Self.session)<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>\n" + """
                    ! authenticated SCRAM-SHA-256 with keys
                    ! next stream
                    ! offered
                    ! resumed 7
                    ! established
                    """)
        #expect(played.known.worked == [.resume] && played.negotiation.suspect == nil)
        #expect(!played.negotiation.isResumePending)
        let lost = try transcript.play(
            Self.flown
                + "S: \(Self.success)HEADER\(Self.session)<failed xmlns='urn:xmpp:sm:3' h='5'/>\n" + """
                    ! authenticated SCRAM-SHA-256 with keys
                    ! next stream
                    ! offered
                    ! resume failed 5 undefined-condition
                    ! connect again
                    """)
        // Prosody's parser has not read the header: whatever comes next would end the stream. The letter itself was read.
        #expect(lost.known.worked == [.resume] && lost.negotiation.suspect == nil && !lost.negotiation.isResumePending)
    }

    @Test("(c) fails: no failed resume before the new stream has begun; a wrong password is not the letter's fault")
    func resumeFails() throws {
        let transcript = Self.transcript()
        let silent = try transcript.play(
            Self.flown + "S: \(Self.success)\n! authenticated SCRAM-SHA-256 with keys\n! next stream\n")
        #expect(silent.negotiation.suspect == .resume && !silent.negotiation.isResumePending)
        let begun = try transcript.play(
            Self.flown
                + "S: \(Self.success)HEADER\n! authenticated SCRAM-SHA-256 with keys\n! next stream\n")
        #expect(begun.negotiation.isResumePending)
        let refused = transcript.outcome(
            Self.flown
                + "S: <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>\n")
        #expect(refused.error?.isRefusal == true && refused.negotiation.suspect == nil)
        let broken = transcript.outcome(
            Self.flown
                + "S: <stream:error><not-well-formed xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>\n")
        #expect(broken.error != nil && broken.negotiation.suspect == .resume)
        let late = transcript.outcome(
            Self.flown
                + "S: <challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.signature)}</challenge>\n"
        )
        #expect(late.error != nil && late.negotiation.suspect == .resume)
    }

    @Test("(c) is not tried where it failed, where nothing is known, and without a former session")
    func noResume() throws {
        let response =
            "C: <response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.proof)}</response>\n"
        let by = "* connected secured\nC: UNDECLARED\(Self.auth)\nS: HEADER\(Offer().features)\n" + Self.challenge
        try Self.transcript(Self.known { $0.off = [.resume] }).play(by + response)
        try Self.transcript().play(by + "! plan\n* plan bind\n" + response)
        try Self.transcript(KnownServer()).play(
            Script.secured + Offer().line + "C: ANY\n" + Self.challenge + response)
    }

    @Test("after <success/> header and <resume/> leave in one write; where nothing is known, by steps")
    func session() throws {
        let begin =
            "* connected secured\nC: UNDECLARED\(Self.auth)\nS: HEADER\(Offer().features)\n"
            + SASLExchange.bound.toSuccess(isSASL2: false) + "! next stream\n"
        let transcript = Self.transcript(Self.known { $0.off = [.resume] })
        let resume = "<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>"
        let sent = begin + "! plan\n* plan resume=id:3\nC: UNDECLARED\(resume)\n"
        #expect(try transcript.play(sent).negotiation.suspect == .session)
        let played = try transcript.play(
            sent
                + "S: HEADER\(Self.session)<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>\n! offered\n! resumed 7\n! established\n"
        )
        #expect(played.known.worked == [.session] && played.negotiation.suspect == nil)
        // A server that reads nothing behind the header is one connection more, and no failed resume for its owner.
        let ignored = transcript.outcome(sent + "S: HEADER\(Self.session)\n! offered\n* silent\n")
        #expect(ignored.error?.isSilence == true && ignored.negotiation.suspect == .session)
        try Self.transcript(Self.known { $0.off = [.resume, .session] }).play(begin + "C: SECURED\n")
        try Self.transcript(KnownServer()).play(
            Script.secured + Offer().line + "C: ANY\n" + SASLExchange.bound.toSuccess(isSASL2: false)
                + "! next stream\nC: SECURED\n")
    }

    @Test("(c) at a server that throws away what comes with the response: header and <resume/> are sent once more")
    func rescue() throws {
        let transcript = Self.transcript()
        let succeeded = Self.flown + "S: \(Self.success)\n! authenticated SCRAM-SHA-256 with keys\n! next stream\n"
        #expect(try transcript.play(Self.flown).negotiation.isRescuable == false, "the response may be on its way")
        #expect(try transcript.play(succeeded).negotiation.isRescuable)
        let late = try Self.transcript(Self.known { $0.worked = [.resume] }).play(succeeded)
        #expect(!late.negotiation.isRescuable, "where the letter has worked, the header is late")
        let resume = "<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>"
        let sent = succeeded + "* silent\nC: SECURED\(resume)\n"
        let rescued = try transcript.play(sent)
        #expect(rescued.known.off == [.resume] && rescued.negotiation.suspect == .session)
        #expect(!rescued.negotiation.isRescuable && !rescued.negotiation.isResumePending)
        let played = try transcript.play(
            sent
                + "S: HEADER\(Self.session)<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>\n! offered\n! resumed 7\n! established\n"
        )
        #expect(played.known.off == [.resume] && played.known.worked == [.session])
        let dead = transcript.outcome(sent + "* silent\n")
        #expect(dead.error?.isSilence == true)
        // Where header and <resume/> together have failed before, the header goes alone (simulation, seed 241).
        let careful = Self.transcript(Self.known { $0.off = [.session] })
        let slow = try careful.play(
            succeeded
                + "* silent\nC: SECURED\nS: HEADER\(Self.session)\n! offered\n! plan\n* plan resume=id:3\nC: \(resume)\n"
        )
        #expect(slow.known.off == [.resume, .session] && slow.negotiation.suspect == nil)
        #expect(slow.negotiation.isResumePending)
    }

    @Test("a trial of (c) is learned before it leaves: a process that dies in the silence does not try for ever")
    func trials() throws {
        let first = try Self.transcript().play(Self.flown)
        #expect(first.known.trials == 1 && first.known.off.isEmpty)
        let by = "* connected secured\nC: UNDECLARED\(Self.auth)\nS: HEADER\(Offer().features)\n" + Self.challenge
        let response =
            "C: <response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>{\(SASLExchange.bound.proof)}</response>\n"
        try Self.transcript(Self.known { $0.trials = 2 }).play(by + response)
        let worked = try Self.transcript(Self.known { ($0.trials, $0.worked) = (2, [.resume]) }).play(Self.flown)
        #expect(worked.known.trials == 2)
    }

    @Test("silence anywhere else ends the negotiation")
    func silence() throws {
        for script in ["* connected secured\nC: ANY\n", Self.flown] {
            let played = Self.transcript().outcome(script + "* silent\n")
            #expect(played.error?.isSilence == true)
        }
    }
}

extension NegotiationError {
    fileprivate var isSilence: Bool { if case .silent = self { true } else { false } }
}
