/// The importance of a line for the operator; the numbers are those of syslog and sd-daemon(3).
public enum LinePriority: Int, Sendable {
    /// Requires action by the operator.
    case alarm = 4
    case notice = 6
    /// Only these lines may hold a part of a token.
    case debug = 7
}

/// Keeps the log readable: a repeated line is written once an hour, and at most ten lines about a topic in ten minutes.
struct LineWriter {
    private struct Topic {
        /// Written lines with their times: as many as are allowed in an hour.
        var written: [String: Double] = [:]  // characters: equal lines to people.
        var since = -Double.infinity
        var count = 0
    }

    private static let maxLines = 10
    private static let time = 600.0

    private let output: (LinePriority, String) -> Void
    // Topics are the program's own: modules and the component.
    private var topics: [String: Topic] = [:]  // characters: the program's own.

    init(_ output: @escaping (LinePriority, String) -> Void) { self.output = output }

    /// - Parameter name: the topic; nil for lines that cannot be many.
    mutating func write(_ priority: LinePriority, _ line: String, about name: String?, now: Double) {
        guard let name, priority != .debug else { return output(priority, line) }
        var topic = topics[name] ?? Topic()
        if let before = topic.written[line], now - before < 3600 { return }
        if now - topic.since >= Self.time { (topic.since, topic.count) = (now, 0) }
        topic.count += 1
        if topic.count <= Self.maxLines {
            topic.written = topic.written.filter { now - $0.value < 3600 }
            topic.written[line] = now
        }
        topics[name] = topic
        guard topic.count <= Self.maxLines else { return }
        let rest = " (more lines about \(name) are left out for ten minutes)"
        output(priority, topic.count == Self.maxLines ? line + rest : line)
    }

    /// The problem is over: the next time, its lines are written again.
    mutating func isOver(_ name: String) { topics[name]?.written = [:] }
}
