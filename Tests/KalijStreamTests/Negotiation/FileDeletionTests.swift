import KalijAddress
import KalijStream
import KalijXML
import TestSupport
import Testing

@Suite("Garbage at every point")
struct FileDeletionTests {
    private static let names = [
        "stream", "features", "starttls", "proceed", "failure", "mechanisms", "mechanism", "challenge", "success",
        "auth", "bind", "jid", "iq", "message", "presence", "error", "resumed", "failed", "enabled", "r", "a", "sm",
        "text", "not-authorized", "item-not-found", "x", "authentication", "continue", "additional-data",
        "authorization-identifier", "bound", "token", "inline", "sasl-channel-binding", "channel-binding",
    ]
    private static let namespaces = [
        "", "jabber:client", "http://etherx.jabber.org/streams", "urn:ietf:params:xml:ns:xmpp-tls",
        "urn:ietf:params:xml:ns:xmpp-sasl", "urn:ietf:params:xml:ns:xmpp-bind", "urn:ietf:params:xml:ns:xmpp-streams",
        "urn:ietf:params:xml:ns:xmpp-stanzas", "urn:xmpp:sm:3", "urn:example", "urn:xmpp:sasl:2", "urn:xmpp:bind:0",
        "urn:xmpp:sasl-cb:0", "urn:xmpp:fast:0",
    ]
    private static let attributes = ["type", "id", "h", "previd", "from", "to", "version", "resume", "max", "by"]
    private static let values = [
        "", "result", "error", "bind", "0", "7", "-1", "4294967295", "4294967296", "99999999999999999999", "id",
        "example.org", "user@example.org/x", "1.0", "0.9", "true", "\u{0}", "\u{FFFF}", "a b@c", "@", "/",
    ]
    private static let texts = [
        "", "=", "SCRAM-SHA-1", "PLAIN", "cj0=", "dj0=", "*", "/w==", "ZT1vdGhlci1lcnJvcg==", "bT1hLHI9eA==",
        "user@example.org/x", "example.org",
    ]

    private static let points = [
        "", "* connected\nC: HEADER>\n", "* connected\nC: HEADER>\nS: HEADER\n", Script.startTLS,
        Script.startTLS + Script.proceed, Script.secured, Script.mechanisms(["SCRAM-SHA-1"]) + "C: ANY\n",
        Script.mechanisms(["PLAIN"]) + "C: ANY\n", Script.proven, Script.authenticated,
        Script.authenticated + "* plan resume=id:3\nC: ANY\n", Script.authenticated + "* plan bind\nC: ANY\n",
        Script.authenticated + Script.bound,
        Script.authenticated + Script.bound + "S: <enabled xmlns='urn:xmpp:sm:3'/>\n! enabled - - -\n! established\n",
        Script.authenticated + "* plan\n",
    ]

    private func element(_ random: inout Seeded, depth: Int = 0) -> Element {
        var attributes: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            attributes[Self.attributes.randomElement(using: &random) ?? "x"] = Self.values.randomElement(using: &random)
        }
        let name = Self.names.randomElement(using: &random) ?? "x"
        let namespace = Self.namespaces.randomElement(using: &random) ?? ""

        let element = Element(
            name, xmlns: namespace, attributes: attributes, text: Self.texts.randomElement(using: &random))
        if depth < 2 {
            for _ in 0..<Int.random(in: 0...2, using: &random) { element.add(self.element(&random, depth: depth + 1)) }
        }
        return element
    }

    private func event(_ random: inout Seeded) -> Negotiation.Event {
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            .connected(secured: Bool.random(using: &random) ? ChannelBindings([:]) : nil, known: KnownServer())
        case 1: .secured(ChannelBindings([:]))
        case 2: .closed
        case 3: .planned(SessionPlan(words: ["resume=id:7"]))
        case 4: .planned(SessionPlan(words: Bool.random(using: &random) ? ["bind"] : ["bind=x", "max=-1"]))
        case 5: .planned(SessionPlan(words: ["resume=id:7", "bind", "carbons", "inactive"]))
        case 6: .planned(SessionPlan())
        case 7: .opened(element(&random))
        default: .element(element(&random))
        }
    }

    @Test("random events at every point: errors or actions, nothing else", arguments: 0..<15)
    func random(point: Int) throws {
        var random = Seeded(RandomInput.seed(UInt64(point) + 1))
        let start = try Transcript().play(Self.points[point]).negotiation
        var errors = 0
        let rounds = RandomInput.rounds(300)
        for _ in 0..<rounds {
            var negotiation = start
            do {
                for _ in 0..<4 {
                    for action in try negotiation.handle(event(&random)) {
                        if case .authenticated(let login) = action {
                            #expect(login.mechanism == .plain && point == 7, "logged in by garbage")
                        }
                    }
                }
            } catch {
                errors += 1
                #expect(!"\(error)".isEmpty)
                #expect(throws: NegotiationError.self) { try negotiation.handle(event(&random)) }
            }
        }
        #expect(errors > rounds / 4)
    }

    @Test("random events during SASL2 and after letters that left unasked: nobody is logged in", arguments: 0..<4)
    func randomUnasked(point: Int) throws {
        var random = Seeded(RandomInput.seed(UInt64(point) + 100))
        let token = FASTToken(mechanism: "HT-SHA-256-EXPR", secret: "x", expiry: .max, count: 1)
        let known = KnownServer.learned(.modern, Offer.both)
        let start = "* connected secured\n! plan\n* plan resume=id:3 bind carbons\nC: ANY\n"
        let points = [
            (KnownServer(), Script.secured + Offer.modern.line + "! plan\n* plan resume=id:3 bind\nC: ANY\n"),
            (known, start), (known, start + "S: HEADER\(Offer.modern.features)\n"),
            (.learned(Offer(), Offer.both, .test()), "* connected secured\nC: ANY\nS: HEADER\n"),
        ]
        let configuration = point == 3 ? Negotiation.Configuration.test() : .modern(tokens: point == 2 ? [token] : [])
        let began = try Transcript(configuration, bindings: Offer.both, known: points[point].0).play(points[point].1)
        for _ in 0..<RandomInput.rounds(500) {
            var negotiation = began.negotiation
            do {
                for _ in 0..<4 {
                    for action in try negotiation.handle(event(&random)) {
                        if case .authenticated = action { Issue.record("logged in by garbage") }
                    }
                }
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
    }

    @Test("random elements in an established stream")
    func established() {
        var random = Seeded(RandomInput.seed(42))
        for _ in 0..<RandomInput.rounds(1500) {
            var management = StreamManagement(
                handled: HandledCount(.random(in: 0...UInt32.max, using: &random)),
                acknowledged: HandledCount(.random(in: 0...UInt32.max, using: &random)))
            let before = management
            let unacknowledged = [-1, 0, 1, 500, Int.max].randomElement(using: &random) ?? 0
            let received = try? management.receive(element(&random), unacknowledged: unacknowledged)
            if case .stanza(let count) = received {
                #expect(count == before.handled.advanced() && management.acknowledged == before.acknowledged)
            } else {
                #expect(management.handled == before.handled)
            }
        }
    }
}
