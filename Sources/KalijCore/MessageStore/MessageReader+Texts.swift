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

    /// The newest `limit` texts shown of the rows after `row`, newest first.
    package func newestTexts(after row: Int64, limit: Int) throws -> [(row: Int64, text: String)] {
        // The unary + excludes the account's index, whose rows would have to be sorted.
        try database.statement(
            """
            SELECT id, body FROM message WHERE id > ? AND +account = ? AND +shown = 1 AND body IS NOT NULL
            ORDER BY id DESC LIMIT ?
            """
        ).all([.integer(row), .integer(account), .integer(Int64(limit))]) { ($0.integer("id"), $0.text("body")) }
    }

    /// The place of the message in `row`; nil if the message is not shown, or belongs to another account.
    package func shownPlace(of row: Int64) throws -> ShownPlace? {
        try database.statement(
            "SELECT position, conversation, sent_at FROM message WHERE id = ? AND account = ? AND shown = 1"
        ).first([.integer(row), .integer(account)]) {
            ShownPlace(
                row: row, position: $0.integer("position"), conversation: $0.text("conversation"),
                sentAt: $0.integer("sent_at"))
        }
    }
}

/// The place of a message among all shown messages of its account.
package struct ShownPlace {
    package let row: Int64
    package let position: Int64
    package let conversation: String
    /// Milliseconds since 1970.
    package let sentAt: Int64
}
