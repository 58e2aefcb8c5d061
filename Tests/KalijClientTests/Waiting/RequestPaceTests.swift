import Testing

@testable import KalijCore

/// The pace of repeated requests, as a value.
struct RequestPaceTests {
    private static let pace = RequestPace(3, atOnceThen: .seconds(10), upTo: .seconds(60))

    /// When requests leave that are wanted at these times, in seconds.
    private func leaving(_ times: [Int64], after past: RequestPace.Past? = nil) -> [Int64] {
        var past = past ?? RequestPace.Past(count: 0, last: 0)
        return times.map { now in
            let time = Self.pace.next(after: past, now: now * 1000)
            past = Self.pace.recording(time, after: past, now: now * 1000)
            return time / 1000
        }
    }

    @Test("a loop: the first leave at once, then each pause is twice the pause before, up to the longest")
    func loop() {
        var (past, times, now) = (RequestPace.Past(count: 0, last: 0), [Int64](), Int64(1_000_000))
        for _ in 0..<8 {
            let time = Self.pace.next(after: past, now: now)
            past = Self.pace.recording(time, after: past, now: now)
            times.append(time - 1_000_000)
            // The response arrives at once and triggers the next request.
            now = time
        }
        #expect(times == [0, 0, 0, 10_000, 30_000, 70_000, 130_000, 190_000])
    }

    @Test("requests that wait leave together, however many were wanted meanwhile")
    func waiting() {
        #expect(leaving([100, 100, 100, 100, 100, 105, 109]) == [100, 100, 100, 110, 110, 110, 110])
        #expect(leaving([100, 100, 100] + [Int64](repeating: 100, count: 1000) + [110]).suffix(2) == [110, 130])
    }

    @Test("what somebody does now and then never waits, however long it goes on")
    func nowAndThen() {
        let times = (1...1000).map { Int64($0) * 10 }
        #expect(leaving(times) == times)
    }

    @Test("the steady time falls back when the machine is started again: nothing within the burst waits for that")
    func fallenBack() {
        #expect(leaving([100, 98, 97, 97]) == [100, 98, 97, 107])
        #expect(leaving([100, 100, 100, 95]) == [100, 100, 100, 105])
        #expect(leaving([100, 100, 100, 100, 95]) == [100, 100, 100, 110, 110])
    }

    @Test("time in which nothing was wanted gives requests back, one for each first pause")
    func quiet() {
        let past = RequestPace.Past(count: 5, last: 1_000_000)
        // The pause after five is 40 s; 20 s more give two back.
        #expect(leaving([1060, 1060], after: past) == [1060, 1080])
        #expect(leaving([1100, 1100, 1100, 1100], after: past) == [1100, 1100, 1100, 1110])
        #expect(leaving([1000], after: past) == [1040])
    }
}
