import Testing

@testable import kalij

/// "`history` and `run` in local time with the date once a day". The time zone is the process's: `FirstDayTests`.
@Suite struct TimedLinesTests {
    private static let hour: Int64 = 3_600_000
    /// 2026-11-21T23:00:00Z.
    private static let evening: Int64 = 1_795_302_000_000

    @Test("the date comes once a day, also when an older line follows") func days() {
        var times = TimedLines(WallClock(isUTC: true))
        let lines = [0, Self.hour / 2, Self.hour, 2 * Self.hour, 0].map { times.next("x", at: Self.evening + $0) }
        #expect(
            lines.map(\.description) == [
                "--- Saturday, 2026-11-21 (UTC)\n23:00:00 x", "23:30:00 x",
                "--- Sunday, 2026-11-22 (UTC)\n00:00:00 x", "01:00:00 x",
                "--- Saturday, 2026-11-21 (UTC)\n23:00:00 x",
            ])
    }

    @Test("a time before 1970 is rounded down; a time that no calendar has is still printed")
    func anyTime() {
        var times = TimedLines(WallClock(isUTC: true))
        #expect(times.next("x", at: -1).description == "--- Wednesday, 1969-12-31 (UTC)\n23:59:59 x")
        for clock in [WallClock(isUTC: true), WallClock(isUTC: false)] {
            for time in [Int64.min, -1_000_000_000_000_000_000, 1_000_000_000_000_000_000, Int64.max] {
                var times = TimedLines(clock)
                #expect(times.next("x", at: time).description.hasSuffix(" x"))
                #expect(!clock.moment(time).isEmpty)
            }
        }
    }

    @Test("a moment in UTC is written as before") func moments() {
        #expect(WallClock(isUTC: true).moment(Self.evening) == "2026-11-21T23:00:00Z")
        #expect(WallClock(isUTC: false).moment(Self.evening).count == "2026-11-21 23:00:00".count)
    }
}
