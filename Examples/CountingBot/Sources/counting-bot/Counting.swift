import KalijClient

/// Counts the messages of each sender, and answers each message with its number.
enum Counting: Feature, StoredMessageObserver {
    static let name = "org.example.counting"

    static let migrations = [
        Migration(
            "org.example.counting/1",
            "CREATE TABLE org_example_counting(sender TEXT PRIMARY KEY, count INTEGER NOT NULL)")
    ]

    /// The call is in the transaction of the stored message: count and answer are committed with the message, or not at all.
    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.direction == .incoming, message.type == "chat", let body = message.body,
            try !step.isHistory(incoming)
        else { return }
        let sender = incoming.sender.bare
        let count = try step.tables.first(
            "INSERT INTO org_example_counting VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
            [.text(sender.description)]
        ) { $0.integer() }
        try step.accept("\(count ?? 0): \(body.prefix(100))", to: sender)
    }
}
