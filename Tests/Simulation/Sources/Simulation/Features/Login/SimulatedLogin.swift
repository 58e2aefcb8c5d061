import CSimulatedMachine
import KalijStore
import KalijStream
import KalijXML

@testable import KalijCore

extension Violation.Promise {
    /// A login loses nothing, and shows nothing to whom it should not.
    static let login = Violation.Promise("login")
}

/// How the server lets the client in, and the judgement of the client's logins (`ARCHITECTURE.md`, "Simulator and tests").
final class SimulatedLogin: SimulatedFeature {
    unowned let server: SimulatedServer
    var tokens = SimulatedTokens()
    /// Nothing goes wrong any more.
    var isCalm = false
    /// Whether nothing but the server has troubled a process since the process began.
    var isUndisturbed: (Int) -> Bool = { _ in true }
    /// How often the power has failed.
    private(set) var powerFailures = 0
    /// What the client must not fall below.
    private var best: (mechanism: String, isSASL2: Bool)?
    /// The offer of the last login.
    private var lastOffer = ""
    /// The letters that have failed since the offer changed.
    private var failed: [EarlyStep: Failure] = [:]
    /// How many connections of a process were lost before their session was there, for other reasons than a letter; and how
    /// many letters of the process have failed.
    private var troubles: [Int: Int] = [:]
    private var failures: [Int: Int] = [:]
    private var faults: [String] = []
    private var tag: String?

    private struct Failure {
        let process: Int
        let link: Int
        /// The power failures before the client must have stored that the letter failed; nil: the client need not have.
        var storedAfter: Int?
    }

    init(_ server: SimulatedServer) { self.server = server }

    private var habits: LoginProfile { server.profile.login }

    /// What is offered now.
    /// - Parameter hasFrom: whether the client has said who it is.
    func offer(hasFrom: Bool) -> LoginOffer {
        var offer = LoginOffer(server.profile)
        let now = server.world.now
        if !isCalm, let edit = habits.edits.first(where: { $0.time ~= now }) { offer = offer.edited(edit.kind) }
        if !hasFrom {
            offer.fast = []
            if server.profile.name.hasPrefix("ejabberd") { offer.mechanisms2 = [] }
        }
        return offer
    }

    /// How the server takes a letter; nil: as if asked for.
    func reaction(to letter: EarlyStep) -> LoginProfile.Reaction? { habits.letters[letter] }

    /// Whether the server refuses a good token.
    func refusesToken() -> Bool {
        !isCalm && habits.refusedTokens > 0 && server.world.random.chance(habits.refusedTokens)
    }

    /// A new token for a client, as XML.
    func token(for agent: String, _ mechanism: String, presented: Int?) -> String {
        let secret = server.newID("token-")
        tokens.give(
            to: agent, for: mechanism, secret: secret, end: server.world.now + habits.tokenLife * 1_000_000,
            presented: presented,
            atOnce: habits.rotatesAtOnce)
        let expiry = Stamp.text(server.world.milliseconds + habits.tokenLife * 1000)
        return "<token xmlns='urn:xmpp:fast:0' token='\(secret)' expiry='\(expiry)'/>"
    }

    func restarted() { if habits.forgetsTokens { tokens.endAll() } }

    // MARK: The judge

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        faults.map { Violation(.login, $0) }
    }

    func fault(_ text: String) {
        guard !faults.contains(text) else { return }
        server.world.trace("   FAULT: \(text)")
        faults.append(text)
    }

    /// The proof of a password has left.
    func proof(_ mechanism: String, isSASL2: Bool, _ offer: LoginOffer) {
        guard let best, offer.isForged, Self.isBelow((mechanism, isSASL2), best) else { return }
        fault("a man in the middle gets a proof by \(mechanism) after \(best.mechanism)")
    }

    /// A client has logged in, and goes on.
    func confirmed(_ mechanism: String, isSASL2: Bool, _ offer: LoginOffer) {
        if let best, !offer.hasHash, Self.isBelow((mechanism, isSASL2), best) {
            fault("the client logs in with \(mechanism) after \(best.mechanism)")
        }
        if !mechanism.hasPrefix("HT-") { best = (mechanism, isSASL2) }
    }

    /// The server lets a client in. With another offer, all letters may be tried again.
    func succeeded(_ offer: LoginOffer) {
        if offer.summary != lastOffer { failed = [:] }
        lastOffer = offer.summary
    }

    private static func isBelow(_ one: (String, isSASL2: Bool), _ other: (String, isSASL2: Bool)) -> Bool {
        func strength(_ name: String) -> Int { name.hasPrefix("SCRAM-SHA-256") ? 2 : name.hasPrefix("SCRAM") ? 1 : 0 }
        if one.0.hasPrefix("HT-") { return false }
        return strength(one.0) < strength(other.0) || !one.isSASL2 && other.isSASL2
            || other.0.hasSuffix("-PLUS") && !one.0.hasSuffix("-PLUS")
    }

    /// A new session begins with the client's agent and tag.
    func bound(tag: String) {
        if let before = self.tag, before != tag { fault("the tag was \(before), and is \(tag)") }
        self.tag = tag
    }

    // MARK: Letters

    func connected(_ link: Link) {
        // Whoever connects again has stored what failed before.
        for (letter, failure) in failed where failure.process == link.process && failure.storedAfter == nil {
            if isUndisturbed(link.process) { failed[letter]?.storedAfter = powerFailures }
        }
    }

    /// A letter is not taken.
    func failed(_ letter: EarlyStep, on link: Link) {
        server.world.trace("   the server does not take the letter \(letter.rawValue)")
        server.world.counts.lettersFailed += 1
        failures[link.process, default: 0] += 1
        failed[letter] = Failure(process: link.process, link: link.number)
    }

    /// A connection is lost before there is a session, and no letter is to blame.
    func troubled(_ link: Link, times: Int = 1) { troubles[link.process, default: 0] += times }

    func powerFailed() {
        powerFailures += 1
        best = nil
    }

    /// A session that could be resumed ends because the client binds anew.
    func replaced(_ session: ServerSession, by link: Link) {
        guard session.isManaged, session.knownAfter == powerFailures, !session.isRefused,
            !server.profile.hasSeveralHeirs,
            troubles[link.process] ?? 0 < 2, isUndisturbed(link.process)
        else { return }
        let cause = failures[link.process] ?? 0 > 0 ? "after a letter has failed" : "for nothing"
        fault("a session is lost \(cause)")
    }

    // MARK: What leaves the client

    /// The client is about to write: what a count of stanzas or of a token's logins relies on is on the disk.
    func sends(_ bytes: [UInt8], on link: Link) {
        guard !link.isInSession, machine_is_dirty(Int32(link.process)) != 0 else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("<resume ") || text.contains("mechanism='HT-") else { return }
        // After a commit that failed nobody knows.
        guard machine_failed_at(Int32(link.process)) == 0 else { return }
        fault("\(text.contains("<resume ") ? "<resume/>" : "a token's proof") leaves before the barrier")
    }

    /// The client writes: all of it leaves together.
    func wrote(_ text: String, on link: Link) {
        judgeToken(link)
        guard !link.isInSession else { return }
        note(text, link)
        if text.contains("</response><?xml") { fault("a second XML declaration in a stream") }
        if let login = Self.part(of: text, "<authenticate ", "</authenticate>") { judge(login, link) }
    }

    /// Notes the letters in what the client writes.
    private func note(_ text: String, _ link: Link) {
        let hasHeader = text.contains("<stream:stream ")
        guard hasHeader else { return }
        var letters: [EarlyStep] = []
        if text.contains("<starttls ") { letters.append(.startTLS) }
        if text.contains("<auth ") || text.contains("<authenticate ") { letters.append(.login) }
        if text.contains("<resume "), !text.contains("<authenticate ") {
            letters.append(text.contains("<response ") ? .resume : .session)
        }
        for letter in letters {
            server.world.counts.letters += 1
            link.letters.insert(letter)
            if let failure = failed[letter], failure.storedAfter == powerFailures, isUndisturbed(link.process) {
                fault("the letter \(letter.rawValue) is sent again, though it has failed")
            }
            // The header that goes out again tells that the failure is known.
            if letter == .session, failed[.resume]?.link == link.number { failed[.resume]?.storedAfter = powerFailures }
        }
    }

    /// Judges a login that leaves.
    private func judge(_ login: String, _ link: Link) {
        guard let element = try? Element.parse(Array(login.utf8)), let mechanism = element["mechanism"] else { return }
        let inner = element.child("fast", "urn:xmpp:fast:0")
        link.expectsToken = mechanism.hasPrefix("HT-") || element.child("request-token", "urn:xmpp:fast:0") != nil
        guard mechanism.hasPrefix("HT-") else { return }
        server.world.counts.tokenLogins += 1
        guard mechanism.hasSuffix("-EXPR") else { return fault("a token's proof leaves by \(mechanism)") }
        let message = element.child("initial-response")?.text ?? ""
        guard let token = tokens.find(SimulatedSASL.bytes(message), exporter: link.exporter) else {
            return fault("a token's proof leaves that is not bound to the connection")
        }
        guard let count = inner?["count"].flatMap({ Int($0) }) else {
            return fault("a token's proof leaves without a count")
        }
        if !tokens.count(count, of: token) { fault("the count \(count) of a token is used twice") }
    }

    /// A new token is synced before anything else leaves.
    private func judgeToken(_ link: Link) {
        guard let syncs = link.syncsAtToken else { return }
        link.syncsAtToken = nil
        if link.syncs() == syncs { fault("something leaves after a new token, before the token is on the disk") }
    }

    /// The client reads.
    func read(_ text: String, on link: Link) {
        guard link.expectsToken, text.contains("<token ") else { return }
        link.syncsAtToken = link.syncs()
    }

    private static func part(of text: String, _ begin: String, _ end: String) -> String? {
        guard let first = text.firstRange(of: begin), let last = text[first.upperBound...].firstRange(of: end) else {
            return nil
        }
        return String(text[first.lowerBound..<last.upperBound])
    }
}
