/// How much a line for the operator matters; the numbers are those of syslog and sd-daemon(3).
public enum LinePriority: Int, Sendable {
    /// Somebody has to do something.
    case alarm = 4
    case notice = 6
    /// The only ones that may hold a part of a token.
    case debug = 7
}

/// Keeps a line that says the same again and again, for example at each attempt to connect, to one in an hour.
struct RepeatFilter {
    private var last: [String: (line: String, at: Double)] = [:]

    /// Whether a line about something is to be written.
    mutating func isNews(_ line: String, about topic: String, now: Double) -> Bool {
        if let last = last[topic], last.line == line, now - last.at < 3600 { return false }
        last[topic] = (line, now)
        return true
    }

    /// What was the matter is over: said again at its next time.
    mutating func forget(_ topic: String) { last[topic] = nil }
}
