import Testing

@testable import KalijTransfer

@Suite("Too slow")
struct SpeedTests {
    private let limits = TransferLimits(lowSpeed: 100, lowSpeedSeconds: 60)

    @Test("Under the limit on average over the whole time, and not before")
    func slow() {
        var measure = SpeedMeasure(limits)
        for second in stride(from: 0, through: 54, by: 6) {
            let isSlow = measure.isTooSlow(bytes: Int64(second), now: Double(second))
            #expect(!isSlow)
        }
        let isSlow = measure.isTooSlow(bytes: 60, now: 60)
        #expect(isSlow)
    }

    @Test("A transfer that stops is found after the time of the limit")
    func stopping() {
        var measure = SpeedMeasure(limits)
        var found: Int?
        for second in stride(from: 0, through: 600, by: 6) where found == nil {
            let bytes = Int64(min(second, 300)) * 100_000
            if measure.isTooSlow(bytes: bytes, now: Double(second)) { found = second }
        }
        #expect(found == 360)
    }

    @Test("At the limit, or after a reset, a transfer goes on")
    func goingOn() {
        var measure = SpeedMeasure(limits)
        for second in stride(from: 0, through: 600, by: 6) {
            let isSlow = measure.isTooSlow(bytes: Int64(second) * 100, now: Double(second))
            #expect(!isSlow)
        }
        measure.reset()
        for second in stride(from: 606, through: 660, by: 6) {
            let isSlow = measure.isTooSlow(bytes: 60_000, now: Double(second))
            #expect(!isSlow)
        }
    }
}
