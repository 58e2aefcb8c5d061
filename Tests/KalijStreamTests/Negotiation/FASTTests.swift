import KalijStream
import Testing

@Suite("FAST")
struct FASTTests {
    private static let day: Int64 = 24 * 3600 * 1000
    private static let now: Int64 = 1_700_000_000_000

    private static func token(
        _ secret: String = "secret-token:fast-x", _ mechanism: String = "HT-SHA-256-EXPR", days: Int64 = 20
    ) -> FASTToken {
        FASTToken(mechanism: mechanism, secret: secret, expiry: now + days * day, count: 5)
    }

    // HMAC-SHA-256 of "Initiator" or "Responder" and the binding's data, keyed by the token (Python's hmac).
    private static let initiator = "dXNlcgAX8tBGI9aQWUhGfmJc5yCVo8In/ziqAfC7T3zBWpeuaw=="
    private static let certified = "dXNlcgDAvdCX9Bm471lRJYxdINcQ98xNl708lzAMqvjob7DmEg=="
    private static let responder = "fEg2ZCGB3XwwTKqGTgZ3ddMM/eDWEkzfVo314yLJX6E="

    private static func request(
        _ message: String = initiator, mechanism: String = "HT-SHA-256-EXPR", inline: String = "",
        isUnasked: Bool = false
    ) -> String {
        let software = isUnasked ? "/>" : "><software>Kalij</software></user-agent>"
        return
            "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='\(mechanism)'>"
            + "<initial-response>\(message)</initial-response>"
            + "<user-agent id='d4565fa7-4d72-4749-b3d3-740edbf87770'\(software)"
            + "\(inline)<fast xmlns='urn:xmpp:fast:0' count='5'/></authenticate>"
    }

    private static func success(_ data: String = responder, _ content: String = "") -> String {
        "S: <success xmlns='urn:xmpp:sasl:2'><additional-data>\(data)</additional-data>"
            + "<authorization-identifier>user@example.org</authorization-identifier>\(content)</success>\n"
    }

    private static func failure(_ condition: String) -> String {
        "S: <failure xmlns='urn:xmpp:sasl:2'><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>\n"
    }

    private static let resume = "<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>"

    @Test("one flight: header, token and <resume/>, before the server's features")
    func oneFlight() throws {
        let known = KnownServer.learned(.modern, Offer.both)
        let configuration = Negotiation.Configuration.modern(
            pins: DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter, isSASL2: true), tokens: [Self.token()])
        let script = """
            * connected secured
            ! plan
            * plan resume=id:3
            C: UNDECLARED\(Self.request(inline: Self.resume, isUnasked: true))
            S: HEADER\(Offer.modern.features)

            """
        let transcript = Transcript(configuration, bindings: Offer.both, known: known)
        let sent = try transcript.play(script)
        #expect(sent.negotiation.suspect == .login && !sent.negotiation.isResumePending)
        let played = try transcript.play(
            script + Self.success(Self.responder, "<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>")
                + "! authenticated HT-SHA-256-EXPR\n! resumed 7\n! established\n")
        #expect(played.login?.usedToken == Self.token() && played.login?.keys == nil)
        #expect(played.login?.pins == configuration.pins && played.known == known)
        #expect(played.negotiation.suspect == nil)
        for answer in ["", "fEg2ZCGB3XwwTKqGTgZ3ddMM/eDWEkzfVo314yLJX6A=", Self.initiator, "*"] {
            let wrong = transcript.outcome(script + Self.success(answer))
            #expect(wrong.error != nil && wrong.login == nil, "\(answer)")
        }
    }

    @Test("a new token comes before everything else; its end is read")
    func rotation() throws {
        let configuration = Negotiation.Configuration.modern(tokens: [Self.token()])
        let new = "<token xmlns='urn:xmpp:fast:0' token='new' expiry='2023-12-01T00:00:00Z'/>"
        let script =
            Script.secured + Offer.modern.line + "! plan\n* plan\nC: \(Self.request())\n"
        let transcript = Transcript(configuration, bindings: Offer.both)
        let played = try transcript.play(
            script + Self.success(Self.responder, new)
                + "! token HT-SHA-256-EXPR new 1701388800000\n! authenticated HT-SHA-256-EXPR\n")
        #expect(played.tokens == [FASTToken(mechanism: "HT-SHA-256-EXPR", secret: "new", expiry: 1_701_388_800_000)])
        for (token, end) in [("token='new' expiry='never'", "new -"), ("token='new'", "new -")] {
            try transcript.play(
                script + Self.success(Self.responder, "<token xmlns='urn:xmpp:fast:0' \(token)/>")
                    + "! token HT-SHA-256-EXPR \(end)\n! authenticated HT-SHA-256-EXPR\n")
        }
        for token in ["token=''", "", "token='\(String(repeating: "x", count: 4097))'"] {
            try transcript.play(
                script + Self.success(Self.responder, "<token xmlns='urn:xmpp:fast:0' \(token)/>")
                    + "! authenticated HT-SHA-256-EXPR\n")
        }
    }

    @Test("a token is asked for where none is held for a week more")
    func requests() throws {
        let request = "<request-token xmlns='urn:xmpp:fast:0' mechanism='HT-SHA-256-EXPR'/>"
        for (tokens, bindings, isAsked) in [
            ([], Offer.both, true), ([Self.token(days: 8)], Offer.both, false),
            ([Self.token(days: 6)], Offer.both, true),
            ([Self.token(days: -1)], Offer.both, true), ([], Offer.endPoint, false),
        ] {
            let transcript = Transcript(.modern(tokens: tokens), bindings: bindings)
            let sent = try transcript.play(Script.secured + Offer.modern.line + "! plan\n* plan\nC: ANY\n").sent
            #expect(sent.contains(request) == isAsked)
            #expect(
                sent.contains("mechanism='HT-SHA-256-EXPR'><initial")
                    == (tokens.first.map { $0.expiry ?? 0 > Self.now } ?? false))
        }
        var configuration = Negotiation.Configuration.modern()
        configuration.requestsToken = false
        let sent = try Transcript(configuration, bindings: Offer.both).play(
            Script.secured + Offer.modern.line + "! plan\n* plan\nC: ANY\n"
        ).sent
        #expect(!sent.contains(request))
        // What nobody asked for is no token.
        let unasked = SASLExchange.bound.toSuccess(
            isSASL2: true, content: "<token xmlns='urn:xmpp:fast:0' token='new'/>")
        try Transcript(configuration, bindings: Offer.both).play(
            Script.secured + Offer.modern.line + "! plan\n* plan\nC: ANY\n" + unasked)
    }

    @Test("never without binding, and by the end point only where there is no exporter")
    func mechanisms() throws {
        for (mechanism, bindings, isUsed) in [
            ("HT-SHA-256-NONE", Offer.both, false), ("HT-SHA-256-UNIQ", Offer.both, false),
            ("HT-SHA-256-ENDP", Offer.both, false), ("HT-SHA-256-ENDP", Offer.endPoint, true),
            ("HT-SHA-256-EXPR", Offer.endPoint, false), ("HT-SHA-256-EXPR", ChannelBindings([:]), false),
            ("HT-SHA-512-EXPR", Offer.both, false),
        ] {
            var configuration = Negotiation.Configuration.modern(tokens: [Self.token("secret-token:fast-x", mechanism)])
            configuration.requestsToken = false
            var offer = Offer.modern
            offer.fast.append(mechanism)
            let played = try Transcript(configuration, bindings: bindings).play(
                Script.secured + offer.line + "! plan\n* plan\nC: ANY\n")
            #expect(played.sent.contains("<fast") == isUsed, "\(mechanism)")
            if isUsed { #expect(played.sent.contains(Self.certified)) }
        }
    }

    @Test("a refused token is forgotten; the next, then the credentials, on the same connection")
    func refused() throws {
        let known = KnownServer.learned(.modern, Offer.both)
        let tokens = [Self.token("new"), Self.token()]
        let transcript = Transcript(.modern(tokens: tokens), bindings: Offer.both, known: known)
        let begin = """
            * connected secured
            ! plan
            * plan resume=id:3
            C: ANY
            S: HEADER\(Offer.modern.features)

            """
        let second = "! plan\n* plan resume=id:3\nC: \(Self.request(inline: Self.resume))\n"
        for condition in ["not-authorized", "credentials-expired", "malformed-request"] {
            let played = try transcript.play(begin + Self.failure(condition) + "! token refused new\n" + second)
            #expect(played.negotiation.suspect == nil)
        }
        // A server in trouble, or Prosody with a second token: the token stays.
        try transcript.play(begin + Self.failure("temporary-auth-failure") + second)
        let inline =
            "<resume xmlns='urn:xmpp:sm:3' h='3' previd='id'/>"
            + "<request-token xmlns='urn:xmpp:fast:0' mechanism='HT-SHA-256-EXPR'/>"
        try transcript.play(
            begin + Self.failure("not-authorized") + "! token refused new\n" + second
                + Self.failure("malformed-request") + """
                    ! plan
                    * plan resume=id:3
                    C: <authenticate xmlns='urn:xmpp:sasl:2' mechanism='SCRAM-SHA-256-PLUS'><initial-response>\
                    {\(SASLExchange.bound.first)}</initial-response><user-agent id='\(Negotiation.Configuration.agent)'>\
                    <software>Kalij</software></user-agent>\(inline)</authenticate>

                    """
                + SASLExchange.bound.toSuccess(
                    isSASL2: true, content: "<resumed xmlns='urn:xmpp:sm:3' h='7' previd='id'/>")
                + "! resumed 7\n! established\n")
        let disabled = transcript.outcome(begin + Self.failure("account-disabled"))
        #expect(disabled.error == .sasl(SASLError(.accountDisabled)) && disabled.negotiation.suspect == nil)
    }

    @Test("no secret is in a description")
    func redaction() {
        var dumped = ""
        dump(Self.token("hidden"), to: &dumped)
        #expect(!"\(Self.token("hidden")) \([Self.token("hidden")]) \(dumped)".contains("hidden"))
    }
}
