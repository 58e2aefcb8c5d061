/// One thing that happened to an account's stream-management session, as the server saw it.
public enum SessionEvent: Equatable, Sendable {
    /// A resource was bound: a new session.
    case bound
    /// `<resumed/>` was sent. `unacknowledged`: how many stanzas sent before the connection ended, or before this
    /// resumption if it had not ended, the client had not acknowledged by then; nil if the log does not tell.
    case resumed(resent: Int, unacknowledged: Int?)
    /// The connection ended; the session waits to be resumed.
    case hibernated
    /// `<resume/>` was answered with `<failed/>`.
    case refused
}

/// Reads the sessions of one account from a server's log while it grows.
public protocol SessionLogReader: Sendable {
    /// The events since the last call, oldest first.
    mutating func newEvents() -> [SessionEvent]
}

/// Prosody 0.12's debug log. Each line is `DATE SOURCE\tLEVEL\tTEXT`, the source being the session (`c2s55f2...`).
struct ProsodySessionReader: SessionLogReader {
    private var tail: LogTail
    private let account: String
    /// Sessions known to be the account's.
    private var own: Set<Substring> = []
    /// For each session, the stanzas queued since its connection ended.
    private var queuedAsleep: [Substring: Int] = [:]

    init(log: String, account: String) {
        tail = LogTail(path: log)
        self.account = account
    }

    mutating func newEvents() -> [SessionEvent] {
        tail.newLines().flatMap { read($0) }
    }

    private mutating func read(_ line: String) -> [SessionEvent] {
        let fields = line.split(separator: "\t", maxSplits: 2)
        guard fields.count == 3, let source = fields[0].split(separator: " ").last, source.hasPrefix("c2s") else {
            return []
        }
        let text = fields[2]
        if text.hasPrefix("Authenticated as ") {
            if text == "Authenticated as \(account)" { own.insert(source) } else { own.remove(source) }
            return []
        }
        guard own.contains(source) else { return [] }
        if text.hasPrefix("Resource bound: ") { return [.bound] }
        if text.hasPrefix("Tried to resume ") { return [.refused] }
        if text.hasPrefix("Session going into hibernation") {
            queuedAsleep[source] = 0
            return [.hibernated]
        }
        if text.hasPrefix("hibernating since ") {
            queuedAsleep[source, default: 0] += 1
            return []
        }
        // Said before the client's h is applied.
        if text.hasPrefix("Pre-resumption #queue = "), let queue = lastNumber(of: text) {
            pending = queue - (queuedAsleep[source] ?? 0)
            return []
        }
        if text.hasPrefix("resending all unacked stanzas"), let resent = lastNumber(of: text) {
            queuedAsleep[source] = nil
            defer { pending = nil }
            return [.resumed(resent: resent, unacknowledged: pending)]
        }
        return []
    }

    private var pending: Int?
}

/// ejabberd 23.01's log with `log_modules_fully: [mod_stream_mgmt]`.
struct EjabberdSessionReader: SessionLogReader {
    private var tail: LogTail
    private let account: String
    /// The h of the last acknowledgement, and how many stanzas had been sent by then.
    private var handled = 0
    private var sentByThen = 0
    private var asleep = false
    private var resent = 0
    private var unacknowledged: Int?

    init(log: String, account: String) {
        tail = LogTail(path: log)
        self.account = account
    }

    mutating func newEvents() -> [SessionEvent] {
        tail.newLines().flatMap { read($0[...]) }
    }

    private mutating func read(_ line: Substring) -> [SessionEvent] {
        guard line.contains(" \(account)/") || line.contains(" for \(account)") else {
            return []
        }
        if line.contains("Opened c2s session for") {
            (handled, sentByThen, asleep, unacknowledged) = (0, 0, false, nil)
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
        if line.contains("Resending "), let range = line.firstRange(of: "Resending ") {
            resent = Int(line[range.upperBound...].prefix { $0.isNumber }) ?? 0
            return []
        }
        if line.contains("Resumed session for") {
            defer { (resent, asleep, unacknowledged) = (0, false, nil) }
            return [.resumed(resent: resent, unacknowledged: unacknowledged)]
        }
        if line.contains("Cannot resume session for") { return [.refused] }
        return []
    }

    /// `... ACCOUNT/RESOURCE acknowledged H of SENT stanzas`.
    ///
    /// The first one after the connection ended is the h of `<resume/>`. What had been sent at the end is not logged,
    /// so this counts what is certain: what the last acknowledgement left open, and what the client has taken since.
    private mutating func acknowledge(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count >= 5, let h = Int(words[words.count - 4]), let sent = Int(words[words.count - 2]) else {
            return
        }
        if asleep { unacknowledged = max(sentByThen - handled, h - handled) }
        (handled, sentByThen) = (h, sent)
    }
}

private func lastNumber(of text: Substring) -> Int? {
    text.split(separator: " ").last.flatMap { Int($0) }
}
