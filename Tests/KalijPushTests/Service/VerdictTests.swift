import KalijPush
import Testing

@Suite("The provider's answer: the token, again or not, the answer")
struct VerdictTests {
    /// A drill with a module that has had a success, and so proves something.
    private func proven(_ change: (inout Settings) -> Void = { _ in }) throws -> Drill {
        var drill = try Drill(change)
        _ = drill.publish("first")
        #expect(drill.deliver(.delivered, 1) == ["answer 1 done"])
        return drill
    }

    @Test("dead: block 24 h, no repetition, cancel/item-not-found; the same in a module that proves nothing")
    func dead() throws {
        var drill = try Drill()
        _ = drill.publish()
        #expect(drill.deliver(.dead, 1) == ["block dead 86400 s", "answer 1 dead"])
    }

    @Test("bad: block 6 h, cancel/item-not-found; wait while the module proves nothing")
    func bad() throws {
        var drill = try proven()
        _ = drill.publish()
        #expect(drill.deliver(.bad, 2) == ["block bad 21600 s", "answer 2 dead"])
        var fresh = try Drill()
        _ = fresh.publish()
        #expect(fresh.deliver(.bad, 1) == ["answer 1 unavailable"])
        _ = drill.pass(86_400_001)
        _ = drill.publish("later")
        #expect(drill.deliver(.bad, 3) == ["answer 3 unavailable"])
    }

    @Test(
        "the breaker: many tokens that worked fail, and none succeeds: no blocks, alarm, probes; a success closes the breaker"
    )
    func breaker() throws {
        var drill = try Drill()
        for number in 1...12 { drill.know("token\(number)", domain: "d\(number % 3).example") }
        for number in 1...9 {
            _ = drill.publish("token\(number)", domain: "d\(number % 3).example")
            #expect(drill.deliver(.bad, drill.core.lastID).last?.hasSuffix("dead") == true)
        }
        _ = drill.publish("token10", domain: "d1.example")
        let actions = drill.deliver(.bad, drill.core.lastID)
        #expect(actions.first == "alarm many tokens fail and none succeeds: check environment and topic")
        // Tokens blocked on the way there may be as good as any other.
        #expect(actions.count { $0.hasPrefix("block none") } == 9)
        #expect(actions.last?.hasSuffix("unavailable") == true)
        #expect(drill.publish("token11").last?.hasSuffix("unavailable") == true)
        #expect(drill.publish("token5").last?.hasSuffix("unavailable") == true)
        _ = drill.pass(30_000)
        // Invented tokens get no probe.
        #expect(drill.publish("invented").last?.hasSuffix("unavailable") == true)
        #expect(drill.publish("token11").first?.hasPrefix("send") == true)
        #expect(drill.publish("token12").last?.hasSuffix("unavailable") == true)
        #expect(drill.deliver(.bad, drill.core.lastID).last?.hasSuffix("unavailable") == true)
        _ = drill.pass(30_000)
        #expect(drill.publish("token12").first?.hasPrefix("send") == true)
        #expect(drill.deliver(.delivered, drill.core.lastID).first == "alarm pushes are taken again (over)")
        #expect(drill.publish("invented").first?.hasPrefix("send") == true)
    }

    @Test("the same token failing again and again does not open the breaker")
    func sameToken() throws {
        var drill = try Drill { $0.limits.malformed = 10_000 }
        for number in 1...30 {
            #expect(drill.publish("same") == ["send \(number)"])
            #expect(drill.deliver(.bad, UInt64(number)) == ["answer \(number) unavailable"])
        }
    }

    @Test("stale credentials: once more with new credentials; wait after another failure")
    func stale() throws {
        var drill = try proven()
        _ = drill.publish()
        #expect(drill.deliver(.staleCredentials, 2) == ["send 2 fresh"])
        #expect(drill.deliver(.delivered, 2) == ["answer 2 done"])
        _ = drill.publish("other")
        #expect(drill.deliver(.staleCredentials, 3) == ["send 3 fresh"])
        #expect(
            drill.deliver(.staleCredentials, 3) == [
                "notice an odd answer: the provider does not take our fresh credentials", "answer 3 fault",
            ])
    }

    @Test("our fault, three times and for two seconds: wait, alarm once, module unhealthy, slow probe")
    func fault() throws {
        var drill = try proven()
        let words = "403 InvalidProviderToken"
        _ = drill.publish()
        #expect(drill.deliver(.fault(words), 2) == ["notice an odd answer: \(words)", "answer 2 fault"])
        for token in ["a", "b"] {
            _ = drill.pass(1_000)
            _ = drill.publish(token)
            #expect(drill.core.health(of: "m")?.state == .healthy)
            _ = drill.deliver(.fault(words), drill.core.lastID)
        }
        #expect(drill.core.health(of: "m")?.state == .faulty(words))
        #expect(drill.publish("c") == ["answer 5 unavailable"])
        _ = drill.pass(30_000)
        #expect(drill.publish("first") == ["send 5"])
        #expect(drill.deliver(.fault(words), 5) == ["answer 6 fault"])
        _ = drill.pass(30_000)
        #expect(drill.publish("first") == ["send 6"])
        #expect(drill.deliver(.delivered, 6) == ["alarm pushes are taken again (over)", "answer 7 done"])
    }

    @Test("odd answers about one domain's tokens make no fault while others' pushes are taken")
    func odd() throws {
        var drill = try Drill()
        for number in 0..<4 { drill.know("good\(number)", domain: "good.example") }
        drill.know("other", domain: "other.example")
        var notices = 0
        for number in 0..<200 {
            _ = drill.publish("odd\(number)", domain: "bad.example")
            notices += drill.deliver(.fault("413 PayloadTooLarge"), drill.core.lastID).count { $0.hasPrefix("notice") }
            _ = drill.pass(100)
        }
        #expect(drill.core.health(of: "m")?.state == .healthy)
        #expect(notices == 1)
        // The provider speaks of a token: a fault is over, although the push is not taken.
        for domain in ["bad.example", "good.example"] {
            for number in 0..<20 {
                _ = drill.publish("x\(number)", domain: domain)
                _ = drill.deliver(.fault("403"), drill.core.lastID)
                _ = drill.pass(200)
            }
        }
        #expect(drill.core.health(of: "m")?.state == .faulty("403"))
        _ = drill.pass(30_000)
        _ = drill.publish("good1", domain: "good.example")
        #expect(drill.deliver(.dead, drill.core.lastID).first == "alarm pushes are taken again (over)")
    }

    @Test("429 for a token: held for Retry-After, else 10 min; result, and further pushes are covered")
    func tokenHeld() throws {
        var drill = try proven()
        _ = drill.publish()
        #expect(
            drill.deliver(.tooMany(.token, retryAfter: nil), 2) == ["keep 3 attempts 0 important", "answer 2 done"])
        #expect(drill.publish() == ["answer 3 done"])
        #expect(drill.publish("other") == ["send 4"])
        #expect(drill.deliver(.delivered, 4) == ["answer 4 done"])
        #expect(drill.pass(599_000) == [])
        #expect(drill.pass(1_000) == ["keep 3 attempts 1 important", "send 3"])
        #expect(drill.deliver(.tooMany(.token, retryAfter: 60_000), 3) == ["keep 3 attempts 1 important"])
        #expect(drill.pass(60_000) == ["keep 3 attempts 2 important", "send 3"])
        #expect(drill.deliver(.tooMany(.token, retryAfter: 60_000), 3) == ["drop 3"])
    }

    @Test("429 for the module: everything is queued until Retry-After; wait where the queue is full")
    func moduleHeld() throws {
        var drill = try proven { $0.limits.queued = 3 }
        _ = drill.publish("a")
        #expect(
            drill.deliver(.tooMany(.module, retryAfter: 60_000), 2) == ["keep 3 attempts 0 important", "answer 2 done"])
        #expect(drill.publish("b") == ["keep 4 attempts 0 important", "answer 3 done"])
        #expect(drill.publish("b") == ["answer 4 done"])
        #expect(drill.publish("c") == ["answer 5 unavailable"])
        #expect(
            drill.pass(60_000) == [
                "keep 3 attempts 1 important", "send 3", "keep 4 attempts 1 important", "send 4",
            ])
        #expect(drill.deliver(.delivered, 3) == ["drop 3"])
    }

    @Test("5xx, reset, timeout: again with back-off within the deadline, then wait; no token blocked")
    func transient() throws {
        var drill = try proven()
        _ = drill.publish()
        var sends = 0
        var answers: [String] = []
        let start = drill.now
        while answers.isEmpty, drill.now < start + 10_000 {
            let actions = drill.deliver(.transient("503"), 2) + drill.pass(100)
            answers += actions.filter { $0.hasPrefix("answer") }
            sends += actions.count { $0 == "send 2" }
            #expect(!actions.contains { $0.hasPrefix("block") })
            if !answers.isEmpty { break }
            if !actions.contains("send 2") {
                let later = drill.pass(2_000)
                sends += later.count { $0 == "send 2" }
                answers += later.filter { $0.hasPrefix("answer") }
            }
        }
        #expect(answers == ["answer 2 unavailable"])
        #expect((2...4).contains(sends))
        #expect(drill.now - start < 8_001)
        // The next message is tried at once.
        #expect(drill.publish() == ["send 3"])
    }

    @Test(
        "a push fails while another push is queued for its token: the queued push goes on waiting, and covers new pushes"
    )
    func failedWhileQueued() throws {
        var drill = try proven()
        _ = drill.publish()
        #expect(drill.publish() == ["keep 3 attempts 0 important", "answer 3 done"])
        #expect(drill.pass(9_000) == ["answer 2 unavailable"])
        #expect(drill.deliver(.transient("timeout"), 2) == [])
        #expect(drill.publish() == ["answer 4 done"])
        #expect(drill.core.queueLength == 1)
        #expect(drill.pass(10_900) == [])
        #expect(drill.pass(200) == ["keep 3 attempts 1 important", "send 3"])
    }

    @Test("a queued push: two attempts at most, then dropped")
    func attempts() throws {
        var drill = try proven()
        _ = drill.publish()
        _ = drill.deliver(.delivered, 2)
        #expect(drill.publish() == ["keep 3 attempts 0 important", "answer 3 done"])
        #expect(drill.pass(20_000) == ["keep 3 attempts 1 important", "send 3"])
        #expect(drill.deliver(.transient("reset"), 3) == [])
        #expect(drill.pass(2_000) == ["keep 3 attempts 2 important", "send 3"])
        #expect(drill.deliver(.transient("reset"), 3) == ["drop 3"])
    }

    @Test("the blocklist is checked again when a queued push is due")
    func blockedMeanwhile() throws {
        var drill = try proven()
        _ = drill.publish()
        _ = drill.publish()
        #expect(drill.deliver(.dead, 2) == ["block dead 86400 s", "answer 2 dead"])
        #expect(drill.pass(20_000) == ["drop 3"])
    }

    @Test("the provider down for an hour: nothing but wait, and afterwards pushes work again")
    func hour() throws {
        var drill = try proven()
        var next: UInt64 = 2
        for number in 0..<360 {
            let sent = drill.publish("token\(number)")
            #expect(sent == ["send \(next)"])
            var answers = drill.deliver(.transient("unreachable"), next).filter { $0.hasPrefix("answer") }
            for _ in 0..<10 where answers.isEmpty {
                answers += drill.pass(1_000).filter { $0.hasPrefix("answer") }
                if answers.isEmpty {
                    answers += drill.deliver(.transient("unreachable"), next).filter { $0.hasPrefix("answer") }
                }
            }
            #expect(answers.count == 1 && answers[0].hasSuffix("unavailable"))
            _ = drill.pass(10_000)
            next += 1
        }
        #expect(drill.publish("token1") == ["send \(next)"])
        #expect(drill.core.inFlight == 1)
    }

    @Test("the provider down for an hour, and seven devices written to all the time: no registration is lost")
    func hourOfPublishes() throws {
        var drill = try proven()
        var (answers, flying, rows, alarms) = ([String: Int](), [UInt64](), 0, [String]())
        func note(_ actions: [String]) {
            for action in actions {
                let words = action.split(separator: " ").map(String.init)
                switch words[0] {
                case "answer": answers[words[2], default: 0] += 1
                case "send": flying += UInt64(words[1]).map { [$0] } ?? []
                case "block": Issue.record("\(action)")
                case "alarm": alarms.append(action)
                default: break
                }
            }
        }
        for second in 0..<3_600 {
            note(drill.publish("token\(second % 7)", important: second % 3 == 0))
            // Some are refused at once, some only after a while.
            let ended = second % 4 == 0 ? flying : flying.filter { $0 % 2 == 0 }
            flying.removeAll { ended.contains($0) }
            for id in ended { note(drill.deliver(.transient("unreachable"), id)) }
            note(drill.pass(1_000))
            rows = max(rows, drill.core.queueLength)
        }
        note(drill.pass(10_000))
        #expect(Set(answers.keys) == ["done", "unavailable"])
        #expect(answers.values.reduce(0, +) == 3_600)
        #expect(answers["unavailable", default: 0] > 100)
        #expect(alarms == ["alarm the provider is out of reach: unreachable"], "one is enough")
        #expect(rows <= 7, "one push waits for a device at most")
        #expect(drill.core.inFlight < 40)
        // The provider is back.
        _ = drill.pass(60_000)
        for id in flying { _ = drill.deliver(.transient("unreachable"), id) }
        #expect(drill.publish("token1").contains { $0.hasPrefix("send") })
    }
}
