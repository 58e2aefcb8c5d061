import KalijTransport
import Testing

@Suite struct BackoffTests {
    @Test("The bound doubles up to the limit; the wait is between nothing and the bound")
    func bounds() {
        var backoff = Backoff()
        var bounds: [Double] = []
        for _ in 0..<12 { bounds.append(backoff.next(random: 1)) }
        #expect(bounds == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(backoff.next(random: 0) == 0)
        #expect(backoff.next(random: 0.5) == 150)
    }

    @Test("The back-off begins anew after a reset, and never overflows")
    func reset() {
        var backoff = Backoff(base: 0.5, limit: 10)
        for _ in 0..<5000 { #expect(backoff.next(random: 0.999) < 10) }
        backoff.reset()
        #expect(backoff.next(random: 1) == 0.5)
    }
}
