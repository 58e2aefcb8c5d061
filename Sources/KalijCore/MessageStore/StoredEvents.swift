import KalijStore

/// The stored events about messages, by their numbers.
package struct StoredEvents {
    package let database: Database

    package init(database: Database) { self.database = database }

    /// A stored event.
    package struct Row: Sendable {
        package let number: Int64
        package let account: Int64
        /// Milliseconds since 1970.
        package let at: Int64
        /// The value of ``MessageEvent/kind``.
        package let kind: String
        /// The row of the message.
        package let message: Int64
    }

    /// The last number assigned; 0 if there is none.
    package var last: Int64 {
        get throws {
            try database.statement("SELECT max(number) FROM event").first { $0.optionalInteger() ?? 0 } ?? 0
        }
    }

    /// The last number of the removed events; 0 if none was removed.
    package var forgotten: Int64 {
        get throws { try database.statement("SELECT number FROM event_forgotten").first { $0.integer() } ?? 0 }
    }

    /// The first event after `number`; nil if there is none.
    package func next(after number: Int64) throws -> Row? {
        try database.statement(
            """
            SELECT number, account, at, kind, message FROM event
            WHERE number > ? AND account IS NOT NULL ORDER BY number LIMIT 1
            """
        ).first([.integer(number)]) {
            Row(
                number: $0.integer("number"), account: $0.integer("account"), at: $0.integer("at"),
                kind: $0.text("kind"), message: $0.integer("message"))
        }
    }
}
