import Foundation
import KalijStream
import KalijXML
import Testing

/// What an attacker with a valid certificate does to the offers.
struct Edit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout Offer) -> Void

    init(_ name: String, _ change: @escaping @Sendable (inout Offer) -> Void) {
        (testDescription, self.change) = (name, change)
    }

    static let all = [
        Edit("PLAIN alone") { ($0.sasl, $0.sasl2, $0.bindings) = (["PLAIN"], ["PLAIN"], nil) },
        Edit("PLAIN alone, kinds kept") { ($0.sasl, $0.sasl2) = (["PLAIN"], ["PLAIN"]) },
        Edit("PLAIN alone, without SASL2") { ($0.sasl, $0.sasl2, $0.bindings) = (["PLAIN"], [], nil) },
        Edit("SCRAM-SHA-1 alone") { ($0.sasl, $0.sasl2, $0.bindings) = (["SCRAM-SHA-1"], ["SCRAM-SHA-1"], nil) },
        Edit("SCRAM-SHA-1-PLUS alone") { ($0.sasl, $0.sasl2) = (["SCRAM-SHA-1-PLUS"], ["SCRAM-SHA-1-PLUS"]) },
        Edit("no PLUS, no kinds") {
            $0.sasl.removeAll { $0.hasSuffix("PLUS") }
            ($0.sasl2, $0.bindings) = ($0.sasl, nil)
        },
        Edit("no PLUS") {
            $0.sasl.removeAll { $0.hasSuffix("PLUS") }
            $0.sasl2 = $0.sasl
        },
        Edit("no SHA-256") {
            $0.sasl.removeAll { $0.contains("256") }
            $0.sasl2 = $0.sasl
        },
        Edit("no kinds") { $0.bindings = nil },
        Edit("an empty list of kinds") { $0.bindings = [] },
        Edit("the end point alone") { $0.bindings = ["tls-server-end-point"] },
        Edit("tls-unique alone") { $0.bindings = ["tls-unique"] },
        Edit("an invented kind") { $0.bindings = ["tls-invented"] },
        Edit("tls-unique and the end point") { $0.bindings = ["tls-unique", "tls-server-end-point"] },
        Edit("no SASL2") { $0.sasl2 = [] },
        Edit("no SASL2, no kinds") { ($0.sasl2, $0.bindings) = ([], nil) },
        Edit("SASL2 with unknown mechanisms") { $0.sasl2 = ["X-INVENTED"] },
        Edit("SASL2 with PLAIN alone") { $0.sasl2 = ["PLAIN"] },
        Edit("no mechanism") { ($0.sasl, $0.sasl2) = ([], []) },
        Edit("unknown mechanisms with binding") { ($0.sasl, $0.sasl2) = (["X-PLUS", "PLAIN"], ["X-PLUS", "PLAIN"]) },
        Edit("SHA-256 without binding, SHA-1 with") {
            $0.sasl = ["SCRAM-SHA-256", "SCRAM-SHA-1-PLUS"]
            $0.sasl2 = $0.sasl
        },
        Edit("a hundred mechanisms before the real ones") {
            $0.sasl = (0..<120).map { "X-\($0)" } + $0.sasl
            $0.sasl2 = $0.sasl
        },
    ]
}

@Suite("A man in the middle with a valid certificate")
struct InTheMiddleTests {
    /// After a login with all that the server has.
    private static let pins = DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter, isSASL2: true)
    /// The server's hash of its own lists, which nobody in between can change (Python's hashlib).
    private static let hash = ",h=HsVT3zgfiif56i/w96g+XTr+Rx/Yfkw1VkxOAdVb9Wk="

    /// What came of an attack.
    private struct Outcome {
        var sent = ""
        var error: NegotiationError?
        var isLoggedIn = false

        /// SCRAM's response, or PLAIN's first message, has left.
        var isProven: Bool { sent.contains("<response") || sent.contains("mechanism='PLAIN'") }
    }

    /// Answers a client as the attacker does: with an edited list, and with the server's own challenge.
    private func attack(
        _ configuration: Negotiation.Configuration, _ offer: Offer, known: KnownServer = KnownServer(),
        hash: String = ""
    ) throws -> Outcome {
        var negotiation = Negotiation(configuration)
        var outcome = Outcome()
        func perform(_ event: Negotiation.Event) throws {
            for action in try negotiation.handle(event) {
                switch action {
                case .send(let bytes): outcome.sent += String(decoding: bytes, as: UTF8.self)
                case .plan: try perform(.planned(SessionPlan(words: ["resume=id:3", "bind"])))
                case .authenticated: outcome.isLoggedIn = true
                default: break
                }
            }
        }
        let header = try #require(try Feeder().header())
        let features = try #require(Element.parsed(offer.features))
        do {
            try perform(.connected(secured: Offer.both, known: known))
            try perform(.opened(header))
            try perform(.element(features))
            let isSASL2 = outcome.sent.contains("<authenticate")
            let namespace = isSASL2 ? "urn:xmpp:sasl:2" : "urn:ietf:params:xml:ns:xmpp-sasl"
            let challenge = Data((SASLExchange.challenge + hash).utf8).base64EncodedString()
            try perform(
                .element(Element("challenge", xmlns: namespace, text: challenge)))
        } catch let error as NegotiationError {
            outcome.error = error
        }
        return outcome
    }

    private func edited(_ edit: Edit) -> Offer {
        var offer = Offer.modern
        edit.change(&offer)
        return offer
    }

    @Test("nobody in between: the proof leaves")
    func genuine() throws {
        for (pins, hash) in [(Self.pins, ""), (Self.pins, Self.hash), (DowngradePins(), Self.hash)] {
            let outcome = try attack(.modern(pins: pins), .modern, hash: hash)
            #expect(outcome.isProven && outcome.error == nil)
        }
        let known = KnownServer.learned(.modern, Offer.both)
        #expect(try attack(.modern(pins: Self.pins), .modern, known: known).isProven)
    }

    @Test(
        "after a login no proof leaves, by steps and unasked, with and without the server's hash", arguments: Edit.all)
    func pinned(edit: Edit) throws {
        for known in [KnownServer(), .learned(.modern, Offer.both)] {
            for hash in ["", Self.hash] {
                let outcome = try attack(.modern(pins: Self.pins), edited(edit), known: known, hash: hash)
                #expect(outcome.error != nil && !outcome.isProven && !outcome.isLoggedIn)
            }
        }
    }

    @Test("at the first login the server's hash ends it, as long as SCRAM is left", arguments: Edit.all)
    func first(edit: Edit) throws {
        let offer = edited(edit)
        let names = offer.sasl2.contains { $0 != "X-INVENTED" } ? offer.sasl2 : offer.sasl
        // PLAIN has no hash: only a pin protects, or an application that does not take PLAIN.
        guard names.contains(where: { $0.hasPrefix("SCRAM") }) else { return }
        let isSASL2Alone = offer.sasl2 != Offer.modern.sasl2 && offer.sasl == Offer.modern.sasl
        let outcome = try attack(.modern(), offer, hash: Self.hash)
        // The hash is of the profile in use: that the other profile is gone shows in the pins alone.
        let isHidden = isSASL2Alone && offer.bindings == Offer.modern.bindings
        #expect(isHidden || (outcome.error != nil && !outcome.isProven))
    }

    @Test(
        "a token's flight: the token's proof is bound to the connection; no other proof, and no session",
        arguments: Edit.all)
    func token(edit: Edit) throws {
        let token = FASTToken(mechanism: "HT-SHA-256-EXPR", secret: "x", expiry: .max, count: 1)
        let known = KnownServer.learned(.modern, Offer.both)
        let outcome = try attack(.modern(pins: Self.pins, tokens: [token]), edited(edit), known: known)
        #expect(outcome.error != nil && !outcome.isProven && !outcome.isLoggedIn)
    }

    @Test("the tokens' list edited: no token without binding, and none that the server does not name")
    func tokenLists() throws {
        let token = FASTToken(mechanism: "HT-SHA-256-EXPR", secret: "x", expiry: .max, count: 1)
        for fast in [[], ["HT-SHA-256-NONE"], ["HT-SHA-256-UNIQ"], ["HT-SHA-256-ENDP", "HT-SHA-256-NONE"]] {
            var offer = Offer.modern
            offer.fast = fast
            let outcome = try attack(.modern(pins: Self.pins, tokens: [token]), offer)
            #expect(!outcome.sent.contains("<fast") && !outcome.sent.contains("<request-token"))
            let known = KnownServer.learned(.modern, Offer.both)
            let flown = try attack(.modern(pins: Self.pins, tokens: [token]), offer, known: known)
            #expect(flown.error == .authentication(.offerChanged) && !flown.isProven)
        }
    }

    @Test("the TLS is an attacker's, without the pinned kind of binding: a genuine list does not excuse that")
    func otherTLS() throws {
        var configuration = Negotiation.Configuration.modern(pins: Self.pins)
        configuration.userAgent = Negotiation.Configuration.agent
        for bindings in [ChannelBindings([:]), Offer.endPoint] {
            let played = Transcript(configuration, bindings: bindings).outcome(Script.secured + Offer.modern.line)
            #expect(played.error == .authentication(.bindingMissing(.tlsExporter)))
        }
    }
}

extension Feeder {
    /// A server's header.
    fileprivate func header() throws -> Element? {
        let text =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
        for case .opened(let header) in try feed(text) { return header }
        return nil
    }
}
