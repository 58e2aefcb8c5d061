import Testing

@testable import KalijPush

@Suite("The health of a push service")
struct ServiceHealthTests {
    private func send(_ health: inout ServiceHealth, _ verdict: Verdict, now: Double) {
        health.sent()
        health.ended(verdict, now: now)
    }

    @Test("a service that has not answered yet gets 32 pushes at a time, and 1,000 once it has")
    func proof() {
        var health = ServiceHealth()
        for _ in 0..<32 {
            #expect(health.gate(now: 0) == .open)
            health.sent()
        }
        guard case .shut = health.gate(now: 0) else { return #expect(Bool(false), "open") }
        health.ended(.delivered, now: 0)
        for _ in 31..<1_000 {
            #expect(health.gate(now: 0) == .open)
            health.sent()
        }
        guard case .shut = health.gate(now: 0) else { return #expect(Bool(false), "open") }
    }

    @Test("after three failures in a row a service rests, longer each time, and gets one push after the rest")
    func rest() {
        var health = ServiceHealth()
        for _ in 0..<2 { send(&health, .transient("x"), now: 0) }
        #expect(health.gate(now: 0) == .open)
        send(&health, .transient("x"), now: 0)
        var now = 0.0
        for length in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            #expect(health.gate(now: now + length - 0.1) == .shut("x"))
            #expect(health.isResting(now: now))
            now += length
            #expect(health.gate(now: now) == .open)
            health.sent()
            #expect(health.gate(now: now) == .shut("x"))
            health.ended(.transient("x"), now: now)
        }
        now += 60
        send(&health, .delivered, now: now)
        #expect(health.gate(now: now) == .open)
        #expect(!health.isResting(now: now))
    }

    @Test("what was sent before the rest began does not make it longer")
    func late() {
        var health = ServiceHealth()
        for _ in 0..<10 { health.sent() }
        for _ in 0..<10 { health.ended(.transient("x"), now: 0.5) }
        #expect(health.gate(now: 1.6) == .open)
    }

    @Test("429 of one endpoint is about that endpoint; of three in a row, about the service")
    func busy() {
        var health = ServiceHealth()
        send(&health, .tooMany(.token, retryAfter: 60_000), now: 0)
        send(&health, .tooMany(.token, retryAfter: 60_000), now: 0)
        #expect(health.gate(now: 0) == .open)
        send(&health, .delivered, now: 0)
        for _ in 0..<2 { send(&health, .tooMany(.token, retryAfter: 60_000), now: 0) }
        #expect(health.gate(now: 0) == .open)
        send(&health, .tooMany(.token, retryAfter: 60_000), now: 0)
        #expect(health.gate(now: 0) == .held(60_001))
        #expect(health.isHeld(now: 59))
        #expect(health.gate(now: 60) == .open)
    }
}
