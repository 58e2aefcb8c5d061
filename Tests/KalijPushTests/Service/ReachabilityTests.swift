import KalijPush
import Testing

@Suite("The state of a module")
struct ReachabilityTests {
    @Test("a provider without an answer for 10 s is out of reach: reported once, and again after an answer")
    func reach() throws {
        var drill = try Drill()
        _ = drill.publish()
        var alarms: [String] = []
        for _ in 0..<30 {
            _ = drill.publish("other\(drill.now)")
            alarms += drill.deliver(.transient("no route"), drill.core.lastID).filter { $0.hasPrefix("alarm") }
            _ = drill.pass(1_000)
        }
        #expect(alarms == ["alarm the provider is out of reach: no route"])
        #expect(drill.core.health(of: "m")?.problem == "the provider is out of reach: no route")
        _ = drill.pass(60_000)
        _ = drill.publish()
        let actions = drill.deliver(.dead, drill.core.lastID)
        #expect(actions.first == "alarm the provider answers again (over)")
        #expect(drill.core.health(of: "m")?.problem == nil)
    }

    @Test("a few failures now and then are no alarm")
    func rare() throws {
        var drill = try Drill()
        for _ in 0..<20 {
            _ = drill.publish()
            let id = drill.core.lastID
            _ = drill.deliver(.transient("503"), id)
            #expect(drill.pass(1_000) == ["send \(id)"])
            #expect(drill.deliver(.delivered, id).count == 1)
            _ = drill.pass(60_000)
        }
    }

    @Test("other credentials, another app or place: state learnt before proves nothing")
    func identity() throws {
        var drill = try Drill()
        drill.core.identify(["m": HashedKey(high: 1, low: 1)])
        _ = drill.publish()
        _ = drill.deliver(.delivered, 1)
        _ = drill.publish("b")
        #expect(drill.deliver(.bad, 2) == ["block bad 21600 s", "answer 2 dead"])
        drill.core.identify(["m": HashedKey(high: 1, low: 1)])
        #expect(drill.core.health(of: "m")?.lastSuccess != nil)
        drill.core.identify(["m": HashedKey(high: 2, low: 2)])
        #expect(drill.core.health(of: "m")?.lastSuccess == nil)
        _ = drill.publish("c")
        #expect(drill.deliver(.bad, 3) == ["answer 3 unavailable"])
        // An earlier fault of the credentials does not count here.
        for token in ["d", "e", "f"] {
            _ = drill.publish(token)
            _ = drill.deliver(.fault("403 InvalidProviderToken"), drill.core.lastID)
            _ = drill.pass(1_000)
        }
        #expect(drill.publish("g") == ["answer 7 unavailable"])
        drill.core.identify(["m": HashedKey(high: 3, low: 3)])
        #expect(drill.publish("g") == ["send 7"])
    }

    @Test("a module's last success is kept over a restart, if the provider is the same")
    func success() throws {
        let identity = HashedKey(high: 1, low: 1)
        var drill = try Drill()
        drill.core.identify(["m": identity])
        _ = drill.publish()
        let actions = drill.core.deliver(.delivered, of: 1, now: drill.now)
        let success = ModuleSuccess(module: "m", identity: identity, at: drill.now)
        #expect(actions.contains(.success(success)))
        for (identity, isProof) in [(identity, true), (HashedKey(high: 2, low: 2), false)] {
            var next = try Drill()
            next.core.identify(["m": identity])
            next.now = drill.now + 3_600_000
            _ = next.core.restore(modules: [success], now: next.now)
            #expect(next.core.health(of: "m")?.lastSuccess == (isProof ? drill.now : nil))
            _ = next.publish("b")
            #expect(next.deliver(.bad, 1).last == (isProof ? "answer 1 dead" : "answer 1 unavailable"))
        }
    }

    @Test("a publish that has to wait anyway uses up no probe")
    func probe() throws {
        var drill = try Drill { $0.limits.probe = 1_000 }
        _ = drill.publish("a")
        _ = drill.deliver(.delivered, 1)
        drill.know("k")
        _ = drill.publish("a")
        _ = drill.deliver(.delivered, drill.core.lastID)
        for token in ["b", "b2", "b3"] {
            _ = drill.publish(token)
            _ = drill.deliver(.fault("403"), drill.core.lastID)
            _ = drill.pass(1_000)
        }
        #expect(drill.core.health(of: "m")?.state == .faulty("403"))
        #expect(drill.publish("a").first?.hasPrefix("keep") == true)
        #expect(drill.publish("k").first?.hasPrefix("send") == true)
        #expect(drill.publish("d").last?.hasSuffix("unavailable") == true)
    }

    @Test("the limiter off: a push held by the provider covers the next pushes all the same")
    func unlimited() throws {
        var drill = try Drill { $0.modules["m"]?.rate.isEnabled = false }
        #expect(drill.publish() == ["send 1"])
        #expect(drill.publish() == ["send 2"])
        #expect(
            drill.deliver(.tooMany(.token, retryAfter: 60_000), 1) == ["keep 3 attempts 0 important", "answer 1 done"])
        #expect(drill.publish() == ["answer 3 done"])
        #expect(drill.pass(60_000) == ["answer 2 unavailable", "keep 3 attempts 1 important", "send 3"])
    }

    @Test("due pushes in the queue wait for pushes on their way, without being written again")
    func room() throws {
        var drill = try Drill { $0.limits.inFlight = 2 }
        let rows = (UInt64(1)...5).map {
            QueuedPush(id: $0, module: "m", token: "t\($0)", isImportant: true, due: drill.now)
        }
        _ = drill.core.restore(queued: rows, now: drill.now)
        #expect(
            drill.pass(0) == ["keep 1 attempts 1 important", "send 1", "keep 2 attempts 1 important", "send 2"])
        #expect(drill.pass(5_000) == [])
        #expect(drill.core.next == nil)
        #expect(drill.deliver(.delivered, 1) == ["drop 1"])
        #expect(drill.pass(0) == ["keep 3 attempts 1 important", "send 3"])
    }

    @Test("a push that has become important stays due at the same time")
    func upgrade() throws {
        var drill = try Drill()
        _ = drill.publish()
        _ = drill.deliver(.delivered, 1)
        let due = drill.now + 20_000
        _ = drill.publish(important: false)
        let publish = Publish(
            requester: Requester(id: "x", from: "d", to: "p"), domain: "example.org", token: Drill.token,
            isImportant: true)
        let actions = drill.core.publish(publish, now: drill.now + 5_000)
        guard case .keep(let row) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(row.due == due)
    }

    @Test("an attempt that could not be counted was none; after ten minutes the push is given up")
    func postponed() throws {
        var drill = try Drill()
        _ = drill.publish()
        _ = drill.deliver(.delivered, 1)
        _ = drill.publish()
        #expect(drill.pass(20_000) == ["keep 2 attempts 1 important", "send 2"])
        #expect(drill.words(drill.core.postpone(2, now: drill.now)) == ["keep 2 attempts 0 important"])
        #expect(drill.pass(1_000) == ["keep 2 attempts 1 important", "send 2"])
        #expect(drill.words(drill.core.postpone(2, now: drill.now + 600_000)) == ["drop 2"])
    }
}
