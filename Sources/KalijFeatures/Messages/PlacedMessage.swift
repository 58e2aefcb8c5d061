import KalijStore

/// A message with what tells its place among the messages of the same side of a conversation.
struct PlacedMessage {
    let archive: String
    let position: Int64
    /// The number of the reading of the archive that has shown the message last, 0 if none has.
    let reading: Int64
    private let conversation: String
    private let direction: String
    private let sentAt: Int64
    private let account: Int64
    private let database: Database

    /// The message in `row`; nil if there is none.
    init?(_ row: Int64, of account: Int64, in database: Database) throws {
        let found = try database.statement(
            "SELECT conversation, direction, archive, position, catchup, sent_at FROM message WHERE id = ?"
        ).first([.integer(row)]) {
            (
                conversation: $0.text("conversation"), direction: $0.text("direction"), archive: $0.text("archive"),
                position: $0.integer("position"), reading: $0.integer("catchup"), sentAt: $0.integer("sent_at")
            )
        }
        guard let found else { return nil }
        (conversation, direction, archive) = (found.conversation, found.direction, found.archive)
        (position, reading, sentAt) = (found.position, found.reading, found.sentAt)
        (self.account, self.database) = (account, database)
    }

    /// The last message between two order numbers that is shown and not erased.
    func last(after first: Int64, before end: Int64) throws -> StoredMessages.Place? {
        try database.statement(
            """
            SELECT id, position FROM message INDEXED BY message_order WHERE account = ? AND conversation = ?
                AND position > ? AND position < ? AND shown = 1 AND direction = ? AND erased IS NULL
            ORDER BY position DESC LIMIT 1
            """
        ).first([.integer(account), .text(conversation), .integer(first), .integer(end), .text(direction)]) {
            StoredMessages.Place(row: $0.integer("id"), position: $0.integer("position"))
        }
    }

    /// The last message that the reading `reading` has shown, that is not erased and not later by its time; of the newest thousand.
    func lastShown(by reading: Int64) throws -> StoredMessages.Place? {
        try database.statement(
            """
            SELECT id, position FROM (
                SELECT id, position, catchup, sent_at FROM message INDEXED BY message_order WHERE account = ?
                    AND conversation = ? AND position > ? AND shown = 1 AND direction = ? AND erased IS NULL
                ORDER BY position DESC LIMIT 1000)
            WHERE catchup = ? AND sent_at <= ? ORDER BY position DESC LIMIT 1
            """
        ).first([
            .integer(account), .text(conversation), .integer(position), .text(direction), .integer(reading),
            .integer(sentAt),
        ]) { StoredMessages.Place(row: $0.integer("id"), position: $0.integer("position")) }
    }
}
