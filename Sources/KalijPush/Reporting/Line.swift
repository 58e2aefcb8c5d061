/// The importance of a line for the operator; the numbers are those of syslog and sd-daemon(3).
public enum LinePriority: Int, Sendable {
    /// Somebody has to do something.
    case alarm = 4
    case notice = 6
    /// Only these lines may hold a part of a token.
    case debug = 7
}

/// Lets a repeated line, for example at each attempt to connect, through once an hour.
struct RepeatFilter {
    private var last: [String: (line: String, at: Double)] = [:]

    /// Whether a line about something is to be written.
    mutating func isNews(_ line: String, about topic: String, now: Double) -> Bool {
        if let last = last[topic], last.line == line, now - last.at < 3600 { return false }
        last[topic] = (line, now)
        return true
    }

    /// The problem is over: the next time, the line is written again.
    mutating func forget(_ topic: String) { last[topic] = nil }
}
