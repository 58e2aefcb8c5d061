import Testing

@testable import KalijApp

@Suite struct ReadingPaceTests {
    @Test func `A flood of messages is marked once a second, and the last one too`() {
        var (pace, marked) = (ReadingPace(), [Int64]())
        var wakeAt: Int64?
        for now in stride(from: Int64(0), through: 5000, by: 10) {
            if wakeAt == now { pace.waited(); wakeAt = nil }
            // A message each 10 ms for three seconds.
            let message = min(now, 3000) / 10 + 1
            switch pace.displayed(message, now: now) {
            case .mark?: marked.append(message)
            case .wait(let time)?: wakeAt = now + time
            case nil: break
            }
        }
        #expect(marked == [1, 101, 201, 301])
    }

    @Test func `Whoever leaves has read what was displayed`() {
        var pace = ReadingPace()
        #expect(pace.displayed(7, now: 100) == .mark)
        #expect(pace.displayed(8, now: 200) == .wait(900))
        #expect(pace.displayed(8, now: 300) == nil)
        #expect(pace.displayed(8, now: 400, isLeaving: true) == .mark)
        #expect(pace.displayed(8, now: 500, isLeaving: true) == nil)
    }

    @Test func `A conversation opened again is marked again, within the same pace`() {
        var pace = ReadingPace()
        #expect(pace.displayed(7, now: 100) == .mark)
        pace.opened()
        #expect(pace.displayed(7, now: 200) == .wait(900))
        pace.waited()
        #expect(pace.displayed(7, now: 1100) == .mark)
    }
}
