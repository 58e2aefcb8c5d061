import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore

enum HistoryCommand: Command {
    static let name = "history"
    static let usage = "[JID] [--limit N] [--after ID] [--older N] [--fill] [--within SECONDS] [--account JID]"
    static let summary = "print stored messages, fetch older ones"
    static let details = """
        Prints the newest stored messages, oldest first, of all conversations or of the conversation with
        JID, and the places with missing messages: messages older than the first reading of the archive,
        lost with an expired archive, or not read yet. Reads the database only; a running process is not
        disturbed. Exit status 1 if there are no messages.

        With --older N, first fetches N messages before the oldest stored message, with JID those of this
        conversation alone; with --fill, first fetches the missing messages in between, of all
        conversations. The driving process (`kalij run`) fetches; without one, this process does. If this
        process ends earlier, fetching goes on in the background: exit status 75.

        With --after ID, prints the oldest messages that were stored after the message with this id, in
        the order of their ids, and no gaps. A program that keeps the last id it has handled (`id` with
        --json; 0 at first) gets each message once, however old: an id is never given twice.

        With -v each line has the message's id after the time, for `kalij react`, `correct`, `retract`, `download` and `send --reply`.

        With --json each line is a message:
          {"event":"message","account":"juliet@example.org","at":"...","direction":"in","id":7,
           "stanza_id":"...","origin_id":"...","from":"romeo@example.org/orchard",
           "to":"juliet@example.org","type":"chat","body":"Hi","sent_at":"2026-11-21T10:00:00.000Z"}
        or a gap, with the times of the messages before and after, if known:
          {"event":"gap","account":"juliet@example.org","after":"...","before":"...","reason":"not-fetched",
           "fillable":true}
        An answer has `answers`, the answered message if it is here: its `id`, `author`, `from` and the beginning of its `text`.
        Outgoing messages have a `state`: queued, sent, acked, delivered, displayed or failed (with an `error`), and `settled` is false if their
        session is lost and the outcome is unknown. Of a queued one, `waits_for` is what it waits for:
        driver, connection, archive, keys, decision, room, members, earlier or nothing (`wait_reason` has details). In a group of at
        most 100 members, `read_by` has the members who say that they have read an own message; when all have, its state is displayed. The `reason` of a
        gap is not-fetched, lost, reading or unread (with a `problem`).

        Times are local, with a line for the date once a day; --utc and --json print UTC.
        """
    static let options: [Arguments.Option] = [
        .value("--limit", "N", "print at most N messages (default 100)"),
        .value("--after", "ID", "print messages stored after this one, oldest first; 0: from the first"),
        .value("--older", "N", "first fetch N older messages from the archive"),
        .flag("--fill", "first fetch missing messages between stored messages"),
        .value("--within", "SECONDS", "fetch for at most so long (default 60)"),
        .value("--account", "JID", "print this account's messages, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...1)
        let limit = try arguments.integer("--limit", in: 1...1_000_000_000) ?? 100
        let older = try arguments.integer("--older", in: 1...1_000_000_000) ?? 0
        let after = try arguments.integer("--after").map { Int64($0) }
        let seconds = try arguments.integer("--within", in: 1...86_400) ?? 60
        let jid = try arguments.value("--account").map { try JID($0) }
        let conversation = try arguments.operands.first.map { try JID($0) }
        if older > 0 || arguments.has("--fill") {
            try HistoryFetcher(shared).fetch(
                older: older, gaps: arguments.has("--fill"), with: conversation, of: jid, within: seconds)
        }
        let database = try shared.directory.read()
        let account = try AccountTable(database).account(jid, in: shared.directory)
        var reader = try HistoryReader(shared.directory)
        reader.report = try DriverReport(of: shared.directory, ifQueuedIn: database, by: [account])
        if let damage = reader.mailboxDamage {
            Output.notice("messages that other processes left in the mailbox are not shown: \(damage)")
        }
        let entries: [HistoryReader.Entry]
        do {
            entries =
                try after.map {
                    try reader.messages(after: $0, of: account, with: conversation, limit: limit).map { .message($0) }
                } ?? reader.entries(of: account, with: conversation, limit: limit)
        } catch let error as HistoryError {
            throw Failure(.badInput, "--after: \(error)")
        }
        var isEmpty = true
        var times = TimedLines(shared.clock)
        for entry in entries {
            switch entry {
            case .message(let message):
                isEmpty = false
                let record = EventRecord(message, account: account.jid.description, at: message.sentAt)
                Output.line(
                    shared.json ? try JSONLine.of(record) : times.next(line(message, shared), at: message.sentAt))
            case .gap(let gap):
                let record = GapRecord(gap, account: account.jid.description)
                Output.line(shared.json ? try JSONLine.of(record) : record.line(shared.clock))
            }
        }
        if isEmpty, let conversation, !shared.json { Output.hint("no messages with \(conversation)") }
        return isEmpty ? .nothing : .done
    }

    /// With -v preceded by the id, the argument of `react`, `correct` and other commands.
    private static func line(_ message: Message, _ shared: SharedOptions) -> PrintedText {
        shared.verbose ? "\(message.id) \(message.line)" : message.line
    }
}

/// Requests older history, and waits until it was fetched.
struct HistoryFetcher {
    private let shared: SharedOptions

    init(_ shared: SharedOptions) { self.shared = shared }

    /// - Throws: `Failure` if a part was not fetched.
    func fetch(older: Int, gaps: Bool, with peer: JID?, of jid: JID?, within seconds: Int) throws {
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let account = try AccountTable(database).account(jid, in: shared.directory)
        guard account.state == .active else { throw Failure(.badConfiguration, "\(account.jid) is logged out") }
        try shared.directory.ringing {
            try Step.accept(for: account, in: database) { step in
                if let peer, older > 0 { try step.fetchHistory(older: older, with: peer) }
                if peer == nil || gaps { try step.fetchHistory(older: peer == nil ? older : 0, gaps: gaps) }
            }
        }
        let reader = HistoryReader(database)
        if let peer, older > 0 { try wait(for: account, seconds) { try reader.fetching(of: account, with: peer) } }
        if peer == nil || gaps { try wait(for: account, seconds) { try reader.fetching(of: account) } }
    }

    private func wait(
        for account: Account, _ seconds: Int, _ fetching: @escaping () throws -> HistoryReader.Fetching?
    ) throws {
        try DriverWait(shared, for: account).wait(within: seconds) { try fetching()?.isDone ?? true }
        guard let outcome = try fetching() else { return }
        Output.notice("\(outcome.messages) older messages fetched")
        if let problem = outcome.problem { Output.notice("not everything could be fetched: \(problem)") }
        guard outcome.isDone else {
            throw Failure(.temporaryFailure, "some messages have not come yet; fetching goes on")
        }
    }
}
