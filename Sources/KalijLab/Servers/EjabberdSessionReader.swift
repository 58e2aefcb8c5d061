import Glibc

/// ejabberd 23.01's log with `log_modules_fully: [mod_stream_mgmt]`.
///
/// Lines reach the file up to two seconds late, but have their time with microseconds.
struct EjabberdSessionReader: SessionLogReader {
    private var tail: LogTail
    private let account: String
    /// The h of the last acknowledgement, and how many stanzas had been sent by then.
    private var handled = 0
    private var sentByThen = 0
    private var asleep = false
    private var unacknowledged: Int?
    private var queued: Int?

    init(log: String, account: String) {
        tail = LogTail(path: log, from: LogTail.end(of: log))
        self.account = account
    }

    mutating func newEvents() -> [SeenEvent] {
        tail.newLines().flatMap { line in
            read(line[...]).map { SeenEvent(at: time(of: line) ?? wallClock(), event: $0) }
        }
    }

    /// `2026-11-21 02:19:29.346756+00:00`, in UTC because the server is started with `TZ=UTC`.
    private func time(of line: String) -> Double? {
        let numbers = line.prefix(26).split { "-: .".contains($0) }.compactMap { Int32($0) }
        guard numbers.count == 7 else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] &- 1900, numbers[1] &- 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        return Double(timegm(&parts)) + Double(numbers[6]) / 1e6
    }

    private mutating func read(_ line: Substring) -> [SessionEvent] {
        if line.contains("is stopped in the node") || line.contains("Stopping ejabberd") { return [.lost(.restarted)] }
        guard line.contains(" \(account)/") || line.contains(" for \(account)") else {
            return []
        }
        if line.contains("Opened c2s session for") {
            (handled, sentByThen, asleep, unacknowledged, queued) = (0, 0, false, nil, nil)
            return [.bound]
        }
        if line.contains("seconds for stream resumption") {
            asleep = true
            return [.hibernated]
        }
        if line.contains(" acknowledged "), line.hasSuffix(" stanzas") {
            acknowledge(line)
            return []
        }
        if line.contains("Resumed session for") {
            defer { (asleep, unacknowledged, queued) = (false, nil, nil) }
            return [.resumed(unacknowledged: unacknowledged, queued: queued)]
        }
        if line.contains("Cannot resume session for") { return [.refused] }
        if line.contains("Timed out waiting for resumption of stream") { return [.lost(.expired)] }
        if line.contains("Too many unacked stanzas") { return [.lost(.queueLimit)] }
        return []
    }

    /// `... ACCOUNT/RESOURCE acknowledged H of SENT stanzas`.
    ///
    /// The first acknowledgement after the end of the connection is the h of `<resume/>`. The number of stanzas sent by
    /// the end is not logged, so only the certain ones are counted: those left open by the last acknowledgement, and
    /// taken by the client since.
    private mutating func acknowledge(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count >= 5, let h = Int(words[words.count - 4]), let sent = Int(words[words.count - 2]) else {
            return
        }
        if asleep {
            unacknowledged = max(sentByThen - handled, h - handled)
            queued = sent - handled
        }
        (handled, sentByThen) = (h, sent)
    }
}
