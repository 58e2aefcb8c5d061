import Glibc
import KalijClient
import KalijText

/// The clock for printed times: of the local time zone (`TZ`), or with `--utc` of UTC.
struct WallClock {
    let isUTC: Bool

    /// The text of a time in milliseconds since 1970; in UTC in the format of XEP-0082.
    func moment(_ milliseconds: Int64) -> String {
        isUTC ? Stamp.of(milliseconds) : text(milliseconds, "%Y-%m-%d %H:%M:%S")
    }

    fileprivate func day(_ milliseconds: Int64) -> String {
        text(milliseconds, "%A, %Y-%m-%d") + (isUTC ? " (UTC)" : "")
    }

    fileprivate func time(_ milliseconds: Int64) -> String { text(milliseconds, "%H:%M:%S") }

    /// Rounded down, before 1970 too.
    fileprivate static func second(_ milliseconds: Int64) -> Int64 {
        milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    }

    private func text(_ milliseconds: Int64, _ format: String) -> String {
        var seconds = time_t(Self.second(milliseconds))  // fits: 64 bits both
        var parts = tm()
        guard (isUTC ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts)) != nil else {
            return Stamp.of(milliseconds)
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            // lives: the buffer ends with this closure, and the text is a copy.
            guard let base = buffer.baseAddress, strftime(base, buffer.count, format, &parts) > 0 else {
                return Stamp.of(milliseconds)
            }
            return String(cString: base)
        }
    }
}

/// Lines that begin with the time of day. The date is on a line of its own, before the first line of a day.
struct TimedLines {
    let clock: WallClock
    private var day = ""
    /// The second of the last line, and its beginning.
    private var last: (second: Int64, begin: PrintedText)?

    init(_ clock: WallClock) { self.clock = clock }

    /// The line for `text`, preceded by the line with the date if the day differs from that of the last line.
    mutating func next(_ text: PrintedText, at milliseconds: Int64) -> PrintedText {
        "\(begin(at: milliseconds))\(text)"
    }

    /// The beginning of a line, preceded by the line with the date if the day differs from that of the last line.
    mutating func begin(at milliseconds: Int64) -> PrintedText {
        let second = WallClock.second(milliseconds)
        if let last, last.second == second { return last.begin }
        let (time, day) = (clock.time(milliseconds), clock.day(milliseconds))
        defer { (last, self.day) = ((second, "\(time) "), day) }
        return day == self.day ? "\(time) " : "--- \(day)\n\(time) "
    }
}

extension Message {
    /// The line for people, with the time.
    func line(_ clock: WallClock) -> PrintedText { "\(clock.moment(sentAt)) \(line)" }
}
