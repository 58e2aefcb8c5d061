import TestSupport
import Testing

@testable import KalijPush

/// What one domain or one user can do to the others.
@Suite("Fair to every domain")
struct FairnessTests {
    @Test("invented tokens of one domain open no breaker, and win no probe")
    func invented() throws {
        var drill = try Drill()
        for number in 0..<5 { drill.know("good\(number)", domain: "good\(number).example") }
        for number in 0..<15 {
            _ = drill.publish("invented\(number)", domain: "bad.example")
            _ = drill.deliver(.bad, drill.core.lastID)
        }
        var taken = 0
        for number in 0..<95 {
            let isSent = drill.publish("new\(number)", domain: "good.example").first?.hasPrefix("send") == true
            if isSent { _ = drill.deliver(.delivered, drill.core.lastID) }
            taken += isSent ? 1 : 0
        }
        #expect(taken == 95)
    }

    @Test("a module counts under the name of the settings, however a publish spells it")
    func spelling() throws {
        var settings = try Drill().core.settings
        settings.modules["\u{4E26}"] = settings.modules.values.first
        #expect(settings.moduleName("\u{FA70}")?.utf8.elementsEqual("\u{4E26}".utf8) == true)
    }

    @Test("an invented token does not speak for a fresh module: an alarm, and pushes go on")
    func fresh() throws {
        var drill = try Drill()
        var alarms: [String] = []
        for number in 0..<30 {
            _ = drill.publish("invented\(number)", domain: "bad.example")
            alarms += drill.deliver(.bad, drill.core.lastID).filter { $0.hasPrefix("alarm") }
        }
        #expect(alarms.count == 1)
        #expect(drill.publish("honest", domain: "good.example").first?.hasPrefix("send") == true)
    }

    @Test("2,000 devices, 2 % dead, at a fresh node: each is pushed, and nobody is blocked")
    func churn() throws {
        var drill = try Drill()
        var refused = 0
        var blocks: [String] = []
        for number in 0..<2_000 {
            guard drill.publish("device\(number)").first?.hasPrefix("send") == true else {
                refused += 1
                continue
            }
            let verdict = number % 50 == 7 ? Verdict.dead : .delivered
            blocks += drill.deliver(verdict, drill.core.lastID).filter { $0.hasPrefix("block mistakes") }
            _ = drill.pass(50)
        }
        #expect(refused == 0)
        #expect(blocks == [])
    }

    @Test("a domain with 30 % dead tokens is blocked; what is refused meanwhile does not count")
    func share() throws {
        var drill = try Drill { $0.limits.newTokenFailures = 10_000 }
        var sent = 0
        while sent < 200 {
            let actions = drill.publish("device\(sent)")
            if actions.first?.hasPrefix("send") != true { break }
            _ = drill.deliver(sent % 10 < 3 ? .dead : .delivered, drill.core.lastID)
            sent += 1
        }
        #expect((60...75).contains(sent), "\(sent)")
        #expect(drill.core.blocks.domains.count == 1)
    }

    @Test("new tokens of a domain are refused by share, and the refusals are no mistakes")
    func newTokens() throws {
        var drill = try Drill { $0.limits.deadTokens = 10_000 }
        for number in 0..<1_000 {
            _ = drill.publish("dead\(number)")
            _ = drill.deliver(.dead, drill.core.lastID)
        }
        #expect(drill.core.counters.refusedNewTokens == 990)
        #expect(drill.core.blocks.domains.count == 0)
        // The window is over, and with it what was counted.
        _ = drill.pass(700_000)
        #expect(drill.publish("honest").first?.hasPrefix("send") == true)
    }

    @Test("a user of a domain: unusable nodes, unknown modules and own stanzas do not block the domain")
    func users() throws {
        var drill = try Drill(provider: .apns(apns))
        for number in 0..<500 {
            #expect(drill.publish("no-token-\(number)").last?.hasSuffix("refused") == true)
            #expect(drill.publish(module: "other").last?.hasSuffix("refused") == true)
            let requester = Requester(id: "x", from: "user@example.org/phone", to: "p")
            #expect(drill.words(drill.core.unusable(requester, now: drill.now)) == ["answer x refused"])
        }
        #expect(drill.core.counters.unusable == 1_500)
        #expect(drill.publish().first?.hasPrefix("send") == true)
    }

    private var apns: APNsSettings {
        APNsSettings(credentials: .key(path: "", keyID: "", teamID: ""), topic: "t")
    }

    @Test("fpush's name of the default module")
    func defaultModule() throws {
        var drill = try Drill()
        #expect(drill.publish(module: "default") == ["send 1"])
    }

    @Test("the case of hexadecimal digits makes no other token")
    func form() throws {
        var drill = try Drill(provider: .apns(apns))
        let token = "ABCDEF0123456789ABCDEF0123456789"
        _ = drill.publish(token)
        #expect(drill.deliver(.dead, 1).first == "block dead 86400 s")
        #expect(drill.publish(token.lowercased()) == ["answer 2 dead"])
        _ = drill.publish("ff" + token)
        _ = drill.deliver(.delivered, drill.core.lastID)
        #expect(drill.publish("FF" + token).first == "keep 3 attempts 0 important")
    }

    @Test("subdomains of one owner, as many as domains have room, leave room for everybody else")
    func subdomains() throws {
        let room = RandomInput.isLong ? 50_000 : 2_000
        var drill = try Drill {
            $0.limits.inFlight = 1_000_000
            $0.limits.domains = room
        }
        for number in 0..<room { _ = drill.publish("t\(number)", domain: "d\(number).bad.co.uk") }
        #expect(drill.core.domains.count == room / 2)
        #expect(drill.publish("honest", domain: "good.co.uk").first?.hasPrefix("send") == true)
    }

    @Test("names that cost nothing, addresses and names made of a key, have one owner each kind")
    func free() throws {
        for domain in ["192.0.2.1", "198.51.100.9", "[2001:db8::1]", "2001:db8::2"] {
            #expect(RegistrableDomain.of(domain) == "address", "\(domain)")
        }
        #expect(RegistrableDomain.of("xmpp.abcdef.onion") == RegistrableDomain.of("ghijkl.onion"))
        #expect(RegistrableDomain.of("1.example.org") == "example.org")
        var drill = try Drill { $0.limits.domains = 1_000 }
        for number in 0..<2_000 { _ = drill.publish("t\(number)", domain: "[2001:db8::\(number)]") }
        #expect(drill.core.domains.count == 500)
        #expect(drill.publish("honest", domain: "good.example").first?.hasPrefix("send") == true)
    }

    @Test("one domain has half of the pushes in flight and of the queue, and others find room")
    func places() throws {
        var drill = try Drill {
            $0.limits.inFlight = 100
            $0.limits.queued = 100
        }
        let flying = (0..<200).count { drill.publish("t\($0)", domain: "bad.example").first?.hasPrefix("send") == true }
        #expect(flying == 50)
        for number in 0..<20 {
            let actions = drill.publish("g\(number)", domain: "good\(number).example")
            #expect(actions.first?.hasPrefix("send") == true)
        }
        let waiting = (0..<50).count { drill.publish("t\($0)", domain: "bad.example").first?.hasPrefix("keep") == true }
        #expect(waiting == 50)
        #expect(drill.publish("g1", domain: "good1.example").first?.hasPrefix("keep") == true)
        // What has ended gives its place back.
        for id in 1...UInt64(50) { _ = drill.deliver(.delivered, id) }
        #expect(drill.publish("more", domain: "bad.example").first?.hasPrefix("send") == true)
    }

    @Test("an answer that needs no provider takes as long as one that does")
    func pace() throws {
        var drill = try Drill()
        for number in 0..<20 {
            _ = drill.publish("t\(number)", domain: "good.example")
            drill.now += 61
            _ = drill.deliver(number == 0 ? .dead : .delivered, drill.core.lastID)
        }
        // Waiting, covered, blocked: each would be answered at once.
        for token in ["t5", "t5", "t0"] {
            #expect(drill.publish(token).allSatisfy { !$0.hasPrefix("answer") })
            #expect(drill.pass(60).allSatisfy { !$0.hasPrefix("answer") })
            #expect(drill.pass(1).count { $0.hasPrefix("answer") } == 1)
        }
    }

    @Test("a queued push that is not on the disk is no good news, however late the answer")
    func notKept() throws {
        var drill = try Drill()
        _ = drill.publish()
        drill.now += 61
        _ = drill.deliver(.delivered, 1)
        #expect(drill.publish() == ["keep 2 attempts 0 important"])
        drill.core.notKept(2)
        #expect(drill.pass(61) == ["answer 2 unavailable"])
    }

    @Test(
        "about to end: the queue goes out, publishes are answered wait, and what cannot go out stays for the next process"
    )
    func ending() throws {
        var drill = try Drill { $0.limits.inFlight = 4 }
        for token in ["a", "b", "c"] {
            _ = drill.publish(token, domain: "\(token).example")
            _ = drill.deliver(.delivered, drill.core.lastID)
            _ = drill.publish(token, domain: "\(token).example")
        }
        #expect(drill.core.queueLength == 3)
        let sent = drill.words(drill.core.end(now: drill.now)).filter { $0.hasPrefix("send") }
        #expect(sent == ["send 2", "send 4", "send 6"])
        #expect(drill.publish("d") == ["answer 7 unavailable"])
        #expect(!drill.core.isQuiet)
        #expect(drill.deliver(.delivered, 2) == ["drop 2"])
        #expect(drill.deliver(.tooMany(.token, retryAfter: 60_000), 4).first?.hasPrefix("keep 4") == true)
        #expect(drill.deliver(.delivered, 6) == ["drop 6"])
        #expect(drill.core.isQuiet)
    }

    @Test("about to end with a long queue: the next push goes out as soon as there is room")
    func longQueue() throws {
        var drill = try Drill { $0.limits.inFlight = 2 }
        let rows = (UInt64(1)...5).map {
            QueuedPush(id: $0, module: "m", token: "t\($0)", isImportant: true, due: drill.now + 20_000)
        }
        _ = drill.core.restore(queued: rows, now: drill.now)
        #expect(drill.words(drill.core.end(now: drill.now)).count { $0.hasPrefix("send") } == 2)
        #expect(drill.core.next == nil)
        _ = drill.deliver(.delivered, 1)
        #expect(drill.core.next == drill.now)
        #expect(drill.pass(0).contains("send 3"))
    }
}

/// The log of a module that somebody makes fail.
@Suite struct LineWriterTests {
    @Test("a line is written once an hour, ten lines about a topic in ten minutes, and again after a recovery")
    func repeated() {
        var written: [String] = []
        var lines = LineWriter { written.append($1) }
        for number in 0..<100 { lines.write(.alarm, number % 2 == 0 ? "a" : "b", about: "m", now: Double(number)) }
        #expect(written == ["a", "b"])
        lines.isOver("m")
        lines.write(.alarm, "a", about: "m", now: 200)
        #expect(written == ["a", "b", "a"])
        for number in 0..<300 { lines.write(.alarm, "line \(number)", about: "m", now: 300) }
        #expect(written.count == 10)
        #expect(written.last?.contains("left out for ten minutes") == true)
        lines.write(.alarm, "line 7", about: "m", now: 1_000)
        lines.write(.alarm, "other", about: "n", now: 1_000)
        #expect(written.count == 12)
    }
}
