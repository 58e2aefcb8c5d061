import KalijStore

/// The texts of messages, for the full-text index. Row numbers give the order in which messages were stored.
extension MessageReader {
    /// The next rows after `row`, of all accounts, with their texts.
    package static func texts(after row: Int64, limit: Int64, in database: Database) throws -> [(
        row: Int64, text: String?
    )] {
        try database.statement("SELECT id, body FROM message WHERE id > ? ORDER BY id LIMIT ?")
            .all([.integer(row), .integer(limit)]) { ($0.integer("id"), $0.optionalText("body")) }
    }

    /// The number of the newest row; 0 if there is none.
    package static func newestRow(in database: Database) throws -> Int64 {
        try database.statement("SELECT max(id) FROM message").first { $0.integer() } ?? 0
    }

    /// The newest `limit` texts shown of the rows after `row`, of all accounts, newest first.
    package static func newestTexts(
        after row: Int64, limit: Int, in database: Database
    ) throws -> [(row: Int64, text: String)] {
        // The unary + excludes the index of the order, whose rows would have to be sorted.
        try database.statement(
            """
            SELECT id, body FROM message WHERE id > ? AND +shown = 1 AND body IS NOT NULL
            ORDER BY id DESC LIMIT ?
            """
        ).all([.integer(row), .integer(Int64(limit))]) { ($0.integer("id"), $0.text("body")) }
    }

    /// The place of the message in `row`.
    package static func textPlace(of row: Int64, in database: Database) throws -> TextPlace? {
        try database.statement("SELECT account, position, conversation, sent_at, shown FROM message WHERE id = ?")
            .first([.integer(row)]) {
                TextPlace(
                    row: row, account: $0.integer("account"), position: $0.integer("position"),
                    conversation: $0.text("conversation"), sentAt: $0.integer("sent_at"), isShown: $0.bool("shown"))
            }
    }
}

/// The place of a message among all messages of its account.
package struct TextPlace {
    package let row: Int64
    package let account: Int64
    package let position: Int64
    package let conversation: String
    /// Milliseconds since 1970.
    package let sentAt: Int64
    /// Whether the message is a line of the conversation.
    package let isShown: Bool
}
