import KalijAddress
import KalijClient

enum SearchCommand: Command {
    static let name = "search"
    static let usage = "WORDS [--in JID] [--after DATE] [--before DATE] [--older-than ID] [--limit N] [--account JID]"
    static let summary = "find stored messages by their words"
    static let details = """
        Prints the newest stored messages that have all WORDS, oldest first, as `kalij history` does, of
        all accounts. Words are found by their beginnings: `hol` finds "holiday". Case and accents do not
        count, and signs have no meaning: `cafe` finds "Café!". A message is found by its text as corrected
        last; retracted and removed messages are not found. Reads the database only; a running process is
        not disturbed. Exit status 1 if nothing was found.

        With --json a message has, besides the keys of `kalij history`, an `excerpt` of its text, and
        `found_at` and `found_length`: how many characters of `body` are before the first word that was
        found, and how many it has. The next page is that of --older-than with the `id` of the first
        message printed; -v prints the ids.

        DATE is a day (2026-11-21) or a time (2026-11-21T18:30) of the local clock, or a time in UTC
        (2026-11-21T18:30:00Z). --after has the day or time itself, --before has not.

        `kalij run` indexes stored messages some seconds after their arrival, and a search looks through
        messages that are not indexed yet; standard error says so if these are too many to look through.

        examples:
          kalij search balcony
          kalij search yonder window --in romeo@example.net --after 2026-11-01
        """
    static let options: [Arguments.Option] = [
        .value("--in", "JID", "only in the conversation with JID"),
        .value("--after", "DATE", "only messages of DATE or later"),
        .value("--before", "DATE", "only messages before DATE"),
        .value("--older-than", "ID", "only messages older than the message with this id"),
        .value("--limit", "N", "print at most N messages (default 100)"),
        .value("--account", "JID", "search only this account's messages, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max)
        let words = try SearchWords(arguments.operands.joined(separator: " "))
        let limit = try arguments.integer("--limit", in: 1...1_000_000_000) ?? 100
        let jid = try arguments.value("--account").map { try JID($0) }
        let conversation = try arguments.value("--in").map { try JID($0) }
        let (after, before) = (try LocalTime.of(arguments, "--after"), try LocalTime.of(arguments, "--before"))
        let database = try shared.directory.read()
        let stored = AccountTable(database)
        let accounts = try jid.map { [try stored.account($0, in: shared.directory)] } ?? stored.all()
        guard !accounts.isEmpty else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        var reader = try HistoryReader(shared.directory)
        reader.report = try DriverReport(of: shared.directory, ifQueuedIn: database, by: accounts)
        var place = try arguments.integer("--older-than").map { id in
            guard let place = try reader.searchPlace(of: Int64(id)) else {
                throw Failure(.badInput, "--older-than: there is no message with the id \(id)")
            }
            return place
        }
        var hits: [SearchPage.Hit] = []
        repeat {
            let page = try reader.search(
                words, of: accounts, with: conversation, after: after, before: before, from: place,
                limit: min(limit - hits.count, pageSize))
            if page.unsearched > 0, place == nil {
                Output.notice("up to \(page.unsearched) older messages were not searched; `kalij run` indexes them")
            }
            hits += page.hits
            place = page.older
        } while place != nil && hits.count < limit
        try write(hits.reversed(), of: accounts, shared)
        return hits.isEmpty ? .nothing : .done
    }

    private static let pageSize = 1000

    private static func write(_ hits: [SearchPage.Hit], of accounts: [Account], _ shared: SharedOptions) throws {
        let names = Dictionary(accounts.map { ($0.id, $0.jid.description) }) { first, _ in first }
        var times = TimedLines(shared.clock)
        for hit in hits {
            let (message, account) = (hit.message, names[hit.account] ?? "")
            let record = EventRecord(
                MessageStored.name, account: account, at: message.sentAt, message.fields + fields(hit.excerpt))
            var line = shared.verbose ? "\(message.id) \(message.line)" : message.line
            if accounts.count > 1 { line = "\(account) \(line)" }
            Output.line(shared.json ? try JSONLine.of(record) : times.next(line, at: message.sentAt))
        }
    }

    private static func fields(_ excerpt: SearchExcerpt) -> [EventField] {
        .present(
            EventField(.excerpt, .text(excerpt.text)),
            excerpt.range.map { EventField(.foundAt, .integer(Int64($0.lowerBound))) },
            excerpt.range.map { EventField(.foundLength, .integer(Int64($0.count))) })
    }
}

extension EventKey {
    fileprivate static let excerpt = EventKey("excerpt", "the part of the text with the first word that was found")
    fileprivate static let foundAt = EventKey(
        "found_at", "how many characters are before the first word that was found")
    fileprivate static let foundLength = EventKey(
        "found_length", "how many characters the first word that was found has")
}
