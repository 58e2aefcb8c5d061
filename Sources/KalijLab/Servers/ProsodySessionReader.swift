/// The debug log of Prosody 0.12 and 13.0. Each line is `DATE SOURCE\tLEVEL\tTEXT`, the source being the session (`c2s55f2...`).
///
/// Lines are written at once, and their dates have no fraction, so the moment of reading is more exact.
struct ProsodySessionReader: SessionLogReader {
    private var tail: LogTail
    private let account: String
    /// The sessions that were identified as the account's.
    private var own: Set<Substring> = []
    /// For each session, the stanzas queued since its connection ended.
    private var queuedAsleep: [Substring: Int] = [:]
    /// The number of open stanzas at the end of the connection of the session that is being resumed.
    private var pending: Int?

    init(log: String, account: String) {
        tail = LogTail(path: log, from: LogTail.end(of: log))
        self.account = account
    }

    mutating func newEvents() -> [SeenEvent] {
        let now = wallClock()
        return tail.newLines().flatMap { read($0) }.map { SeenEvent(at: now, event: $0) }
    }

    private mutating func read(_ line: String) -> [SessionEvent] {
        let fields = line.split(separator: "\t", maxSplits: 2)
        if line.hasSuffix("\tShutting down...") { return [.lost(.restarted)] }
        guard fields.count == 3, let source = fields[0].split(separator: " ").last, source.hasPrefix("c2s") else {
            return []
        }
        let text = fields[2]
        if text.hasPrefix("Authenticated as ") {
            // Prosody 13 adds the role: `[prosody:registered]`.
            let isOwn = text == "Authenticated as \(account)" || text.hasPrefix("Authenticated as \(account) [")
            if isOwn { own.insert(source) } else { own.remove(source) }
            return []
        }
        guard own.contains(source) else { return [] }
        if text.hasPrefix("Resource bound: ") { return [.bound] }
        if text.hasPrefix("Tried to resume ") { return [.refused] }
        if text.hasPrefix("Destroying session for hibernating too long") { return [.lost(.expired)] }
        // The end of a session after a failed resumption, without an orderly change to a new session.
        if text.hasPrefix("Disconnecting client, <stream:error> is: "), text.contains("resource-constraint") {
            pending = nil
            return [.refused, .lost(.queueLimit)]
        }
        if text.hasPrefix("Session going into hibernation") {
            queuedAsleep[source] = 0
            return [.hibernated]
        }
        if text.hasPrefix("hibernating since ") {
            queuedAsleep[source, default: 0] += 1
            return []
        }
        // Logged before the client's h is applied.
        if text.hasPrefix("Pre-resumption #queue = "), let queue = lastNumber(of: text) {
            pending = queue - (queuedAsleep[source] ?? 0)
            return []
        }
        if text.hasPrefix("resending all unacked stanzas") {
            queuedAsleep[source] = nil
            defer { pending = nil }
            return [.resumed(unacknowledged: pending, queued: nil)]
        }
        return []
    }
}

private func lastNumber(of text: Substring) -> Int? {
    text.split(separator: " ").last.flatMap { Int($0) }
}
