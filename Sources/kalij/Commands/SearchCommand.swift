import KalijAddress
import KalijClient

enum SearchCommand: Command {
    static let name = "search"
    static let usage = "WORDS [--in JID] [--after DATE] [--before DATE] [--limit N] [--account JID]"
    static let summary = "find stored messages by their words"
    static let details = """
        Prints the newest stored messages that have all WORDS, oldest first, as `kalij history` does. Case and accents do not
        count, and signs have no meaning: `cafe` finds "Café!". A word is found as a whole word. A message is found by its
        text as corrected last; retracted and removed messages are not found. Reads the database only; a running process is
        not disturbed. Exit status 1 if nothing was found.

        DATE is a day (2026-11-21) or a time (2026-11-21T18:30) of the local clock, or a time in UTC (2026-11-21T18:30:00Z).
        --after has the day or time itself, --before has not.

        `kalij run` indexes stored messages some seconds after their arrival, and a search looks through messages that are
        not indexed yet; standard error says so if these are too many to look through.

        examples:
          kalij search balcony
          kalij search yonder window --in romeo@example.net --after 2026-11-01
        """
    static let options: [Arguments.Option] = [
        .value("--in", "JID", "only in the conversation with JID"),
        .value("--after", "DATE", "only messages of DATE or later"),
        .value("--before", "DATE", "only messages before DATE"),
        .value("--limit", "N", "print at most N messages (default 100)"),
        .value("--account", "JID", "search this account's messages, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max)
        let words = try SearchWords(arguments.operands.joined(separator: " "))
        let limit = try arguments.integer("--limit", in: 1...1_000_000_000) ?? 100
        let jid = try arguments.value("--account").map { try JID($0) }
        let conversation = try arguments.value("--in").map { try JID($0) }
        let (after, before) = (try LocalTime.of(arguments, "--after"), try LocalTime.of(arguments, "--before"))
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let reader = try HistoryReader(shared.directory)
        let found = try reader.search(
            words, of: account, with: conversation, after: after, before: before, limit: limit)
        if found.unsearched > 0 {
            Output.notice("up to \(found.unsearched) older messages were not searched; `kalij run` indexes them")
        }
        var times = TimedLines(shared.clock)
        for message in found.messages {
            let record = EventRecord(message, account: account.jid.description, at: message.sentAt)
            Output.line(shared.json ? try JSONLine.of(record) : times.next(message.line, at: message.sentAt))
        }
        return found.messages.isEmpty ? .nothing : .done
    }
}
