import KalijAddress
import KalijClient

enum HistoryCommand: Command {
    static let name = "history"
    static let usage = "[JID] [--limit N] [--account JID]"
    static let summary = "print stored messages"
    static let details = """
        Prints the newest stored messages, oldest first, of all conversations or of the one with JID. Reads the database
        only; a running process is not disturbed. Exit status 1 if there are none.

        With --json each line is a message:
          {"event":"message","account":"juliet@example.org","at":"...","direction":"in","id":7,"stanza_id":"...",
           "origin_id":"...","from":"romeo@example.org/orchard","to":"juliet@example.org","type":"chat","body":"Hi",
           "sent_at":"2026-11-21T10:00:00.000Z"}
        Outgoing messages carry `state`: queued, sent, acked or failed (then `error` says why), and `settled` false if the
        session in which they were sent is lost and their outcome is not known.
        """
    static let options: [Arguments.Option] = [
        .value("--limit", "N", "at most N messages (default 100)"),
        .value("--account", "JID", "whose messages, if several accounts are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...1)
        let limit = try arguments.integer("--limit", in: 1...1_000_000_000) ?? 100
        let database = try shared.directory.read()
        let account = try AccountTable(database).account(
            arguments.value("--account").map { try JID($0) }, in: shared.directory)
        let messages = try HistoryReader(database).messages(
            of: account, with: arguments.words.first.map { try JID($0) }, limit: limit)
        for message in messages {
            if shared.json {
                let record = MessageRecord(message, account: account.jid.description, at: message.sentAt)
                Output.line(try JSONLine.of(record))
            } else {
                Output.line(MessageLine.of(message))
            }
        }
        return messages.isEmpty ? .nothing : .done
    }
}
