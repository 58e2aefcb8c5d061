import KalijPush
import Testing

@Suite("For each publish")
struct RulesTests {
    @Test("send, queue one, cover the rest; important pushes upgrade; the queued push goes out after 20 s")
    func rate() throws {
        var drill = try Drill(background: true)
        #expect(drill.publish() == ["send 1"])
        #expect(drill.deliver(.delivered, 1) == ["answer 1 done"])
        #expect(drill.publish(important: false) == ["keep 2 attempts 0", "answer 2 done"])
        #expect(drill.publish(important: false) == ["answer 3 done"])
        #expect(drill.publish(important: true) == ["keep 2 attempts 0 important", "answer 4 done"])
        #expect(drill.publish(important: true) == ["answer 5 done"])
        #expect(drill.pass(19_000) == [])
        #expect(drill.pass(1_000) == ["keep 2 attempts 1 important", "send 2"])
        #expect(drill.deliver(.delivered, 2) == ["drop 2"])
        #expect(drill.pass(60_000) == [])
        #expect(drill.publish(important: false) == ["send 3 background"])
    }

    @Test("malformed: wait/policy-violation, and 100 in 10 minutes block the domain for an hour")
    func malformed() throws {
        var drill = try Drill()
        #expect(drill.publish() == ["send 1"])
        #expect(drill.deliver(.delivered, 1) == ["answer 1 done"])
        for _ in 0..<99 { #expect(drill.malformed().last?.hasSuffix("refused") == true) }
        #expect(drill.malformed() == ["block mistakes 3600 s", "answer 101 refused"])
        #expect(drill.publish("other") == ["answer 102 refused"])
        #expect(drill.publish("other", domain: "example.com") == ["send 2"])
        _ = drill.pass(3_600_000)
        #expect(drill.publish() == ["send 3"])
    }

    @Test("100 malformed publishes spread over more than 10 minutes are forgiven")
    func spread() throws {
        var drill = try Drill()
        for _ in 0..<300 {
            #expect(drill.malformed().count == 1)
            _ = drill.pass(6_500)
        }
    }

    @Test("a domain is blocked after 20 dead tokens in 10 minutes")
    func deadTokens() throws {
        var drill = try Drill { $0.limits.newTokenFailures = 1_000 }
        for number in 1...19 {
            #expect(drill.publish("token\(number)") == ["send \(number)"])
            #expect(
                drill.deliver(.dead, UInt64(number)) == ["block dead 86400 s", "answer \(number) dead"])
        }
        _ = drill.publish("token20")
        #expect(drill.deliver(.dead, 20) == ["block dead 86400 s", "block mistakes 3600 s", "answer 20 dead"])
        #expect(drill.publish("token21") == ["answer 21 refused"])
    }

    @Test("new tokens of a domain are refused after failures; tokens with a success in 7 days go on")
    func newTokens() throws {
        var drill = try Drill { $0.limits.newTokenFailures = 3 }
        _ = drill.publish("known")
        _ = drill.deliver(.delivered, 1)
        for number in 2...4 {
            _ = drill.publish("token\(number)")
            _ = drill.deliver(.dead, UInt64(number))
        }
        #expect(drill.publish("token5") == ["answer 5 refused"])
        #expect(drill.publish("token5", domain: "example.com") == ["send 5"])
        _ = drill.pass(30_000)
        #expect(drill.publish("known") == ["send 6"])
        _ = drill.pass(600_000)
        #expect(drill.publish("token5") == ["send 7"])
    }

    @Test("a blocked token: cancel/item-not-found, nothing sent, and the hit extends")
    func blockedToken() throws {
        var drill = try Drill { $0.limits.answer = 8_000 }
        _ = drill.publish()
        #expect(drill.deliver(.dead, 1) == ["block dead 86400 s", "answer 1 dead"])
        #expect(drill.publish() == ["answer 2 dead"])
        _ = drill.pass(86_300_000)
        #expect(drill.publish() == ["hit 600 s", "answer 3 dead"])
        _ = drill.pass(600_000)
        #expect(drill.publish() == ["send 2"])
    }

    @Test("every limit has its answer")
    func limits() throws {
        var drill = try Drill {
            $0.limits.inFlight = 4
            $0.limits.domains = 2
        }
        #expect(drill.publish("a") == ["send 1"])
        #expect(drill.publish("b") == ["send 2"])
        #expect(drill.publish("c") == ["answer 3 refused"])
        #expect(drill.deliver(.delivered, 1) == ["answer 1 done"])
        #expect(drill.publish("c") == ["send 3"])
        #expect(drill.publish("d", domain: "two.example") == ["send 4"])
        #expect(drill.publish("e", domain: "three.example") == ["answer 6 refused"])
        var full = try Drill { $0.limits.queued = 1 }
        for token in ["a", "b"] { _ = full.publish(token) }
        #expect(full.publish("a") == ["keep 3 attempts 0 important", "answer 3 done"])
        #expect(full.publish("b") == ["answer 4 unavailable"])
        var tokens = try Drill { $0.limits.tokensPerDomain = 2 }
        for token in ["a", "b"] { _ = tokens.publish(token) }
        #expect(tokens.publish("c") == ["answer 3 refused"])
        #expect(tokens.publish("c", domain: "other.example") == ["send 3"])
        _ = tokens.pass(20_000)
        #expect(tokens.publish("c") == ["send 4"])
    }

    @Test("every publish is answered within 10 s, once")
    func late() throws {
        var drill = try Drill()
        #expect(drill.publish() == ["send 1"])
        #expect(drill.pass(10_000) == ["answer 1 unavailable"])
        #expect(drill.deliver(.delivered, 1) == [])
    }

    @Test("a rotated secret: a block under the old secret stays")
    func rotation() throws {
        let old = try KeyHasher(secret: [UInt8](repeating: 1, count: 32))
        let new = try KeyHasher(secret: [UInt8](repeating: 2, count: 32))
        let settings = try Drill().core.settings
        let now: Milliseconds = 1_700_000_000_000
        let block = BlockChange(
            key: old.key(token: "t", module: "m"), version: BlockChange.version(at: now), expires: now + 5_000_000,
            reason: .dead)
        var core = PushCore(settings: settings, hasher: new, otherHashers: [old], seed: 1)
        _ = core.restore(queued: [], blocks: [block], now: now)
        let publish = Publish(
            requester: Requester(id: "1", from: "d", to: "p"), domain: "d", token: "t", isImportant: true)
        #expect(core.publish(publish, now: now) == [.answer(publish.requester, .dead)])
        _ = core.publish(publish, now: now + 4_900_000)
        #expect(core.blocks.tokens.expiry(block.key, now: now + 5_400_000) == now + 5_500_000)
    }

    @Test("a rotated secret: a domain blocked under the old secret stays blocked, a known token is not new")
    func rotatedDomain() throws {
        let old = try KeyHasher(secret: [UInt8](repeating: 1, count: 32))
        let new = try KeyHasher(secret: [UInt8](repeating: 2, count: 32))
        var settings = try Drill().core.settings
        settings.limits.newTokenFailures = 1
        let now: Milliseconds = 1_700_000_000_000
        let block = BlockChange(
            key: old.key(domain: "bad"), version: BlockChange.version(at: now), expires: now + 5_000, reason: .mistakes)
        var core = PushCore(settings: settings, hasher: new, otherHashers: [old], seed: 1)
        _ = core.restore(blocks: [block], known: [(old.key(token: "t", module: "m"), now - 1_000)], now: now)
        func publish(_ domain: String, _ token: String) -> CoreAction? {
            let requester = Requester(id: "1", from: domain, to: "p")
            return core.publish(Publish(requester: requester, domain: domain, token: token), now: now).last
        }
        let refused = CoreAction.answer(Requester(id: "1", from: "bad", to: "p"), .refused)
        #expect(publish("bad", "t") == refused)
        _ = publish("good", "dead")
        _ = core.deliver(.dead, of: core.lastID, now: now)
        guard case .send = publish("good", "t") else {
            Issue.record("a known token was taken for a new one")
            return
        }
        guard case .answer(_, .refused) = publish("good", "other") else {
            Issue.record("a new token was let in")
            return
        }
    }

    @Test("limits of a domain hold as soon as the configuration is read again")
    func reload() throws {
        var drill = try Drill()
        _ = drill.publish("a")
        var settings = drill.core.settings
        settings.limits.tokensPerDomain = 1
        settings.limits.inFlight = 100
        drill.core.reload(settings)
        #expect(drill.publish("b") == ["answer 2 refused"])
        #expect(drill.deliver(.delivered, 1) == ["answer 1 done"])
    }

    @Test("a clock that is stepped back changes nothing")
    func clock() throws {
        var drill = try Drill()
        _ = drill.publish()
        _ = drill.deliver(.delivered, 1)
        drill.now -= 3_600_000
        #expect(drill.publish() == ["keep 2 attempts 0 important", "answer 2 done"])
        drill.now += 3_600_000
        #expect(drill.pass(20_000).contains("send 2"))
    }
}
