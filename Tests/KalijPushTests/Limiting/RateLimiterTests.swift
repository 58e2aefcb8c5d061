import KalijPush
import Testing

@Suite("The rate of a token")
struct RateLimiterTests {
    private let key = HashedKey(high: 1, low: 2)

    @Test("nothing sent in the last 20 s: send; a push just sent: queue; a push already queued: cover")
    func rules() {
        var limiter = RateLimiter(RateSettings())
        #expect(limiter.decide(key, important: false, now: 1_000) == .send)
        #expect(limiter.decide(key, important: false, now: 1_001) == .queue(until: 21_000))
        #expect(limiter.decide(key, important: false, now: 1_002) == .covered(upgraded: false))
        #expect(limiter.decide(key, important: true, now: 1_003) == .covered(upgraded: true))
        #expect(limiter.decide(key, important: true, now: 1_004) == .covered(upgraded: false))
        limiter.fire(key, now: 21_000)
        #expect(limiter.decide(key, important: false, now: 21_001) == .queue(until: 41_000))
    }

    @Test("where fpush errs: requests in the second half of the window queue exactly one push")
    func secondHalf() {
        var limiter = RateLimiter(RateSettings())
        _ = limiter.decide(key, important: false, now: 0)
        var queued = 0
        for time in stride(from: Milliseconds(10_001), to: 20_000, by: 100) {
            if case .queue(let until) = limiter.decide(key, important: false, now: time) {
                queued += 1
                #expect(until == 20_000)
            }
        }
        #expect(queued == 1)
    }

    @Test("a token after its window costs nothing; a token with a waiting push is kept")
    func memory() {
        var limiter = RateLimiter(RateSettings())
        for number in UInt64(0)..<1000 { _ = limiter.decide(HashedKey(high: 0, low: number), important: false, now: 0) }
        _ = limiter.decide(HashedKey(high: 0, low: 5), important: false, now: 1)
        limiter.cleanUp(19_999)
        #expect(limiter.count == 1000)
        limiter.cleanUp(20_000)
        #expect(limiter.count == 1)
        limiter.fire(HashedKey(high: 0, low: 5), now: 20_000)
        limiter.cleanUp(60_001)
        #expect(limiter.count == 0)
    }

    /// The simplest model: for each token the time of the last push, and whether a push waits.
    @Test("1,000,000 random steps of a simulated clock against a simple model")
    func model() {
        struct State {
            var last: Milliseconds
            var waits = false
            var important = false
        }
        var limiter = RateLimiter(RateSettings())
        var model: [UInt64: State] = [:]
        var generator = Generator(seed: 4)
        var now: Milliseconds = 0
        var wrong = 0
        for _ in 0..<1_000_000 {
            now += Milliseconds.random(in: 0...40, using: &generator)
            let token = UInt64.random(in: 0..<200, using: &generator)
            let key = HashedKey(high: 0, low: token)
            if let state = model[token], state.waits, now >= state.last + 20_000 {
                limiter.fire(key, now: now)
                model[token] = State(last: now)
                continue
            }
            let important = Bool.random(using: &generator)
            let expected: RateLimiter.Decision
            if var state = model[token], state.waits {
                expected = .covered(upgraded: important && !state.important)
                state.important = state.important || important
                model[token] = state
            } else if let state = model[token], now < state.last + 20_000 {
                expected = .queue(until: state.last + 20_000)
                model[token] = State(last: state.last, waits: true, important: important)
            } else {
                expected = .send
                model[token] = State(last: now)
            }
            if limiter.decide(key, important: important, now: now) != expected { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(limiter.count <= 200)
    }
}

/// The same numbers each time.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29) &* 0xbf58_476d_1ce4_e5b9
    }
}
