import KalijStore

/// The stored messages of an account, for other parts of the engine. Reads only, inside or outside a step.
package struct MessageReader {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) {
        self.database = database
        self.account = account
    }

    /// A message with its order number.
    package typealias Placed = (message: Message, position: Int64)

    /// The newest `limit` messages shown, oldest first.
    /// - Parameter conversation: the bare address of a conversation; nil for all conversations.
    package func newest(_ limit: Int, with conversation: String?) throws -> [Placed] {
        guard let conversation else { return try newest(limit) }
        return try page(limit, with: conversation, before: .max)
    }

    // MARK: All conversations

    /// The newest message of a conversation that was not returned yet.
    private struct Head {
        let conversation: String
        let order: (position: Int64, id: Int64)
    }

    /// All conversations with a shown message, and when the newest was sent.
    package func activity() throws -> [(conversation: String, at: Int64)] {
        try database.statement(
            """
            WITH RECURSIVE c(name) AS (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 1
                UNION ALL SELECT
                    (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 1 AND conversation > name)
                    FROM c WHERE name IS NOT NULL)
            SELECT name, (SELECT sent_at FROM message WHERE account = ?1 AND conversation = name AND shown = 1
                ORDER BY position DESC LIMIT 1) AS sent_at
            FROM c WHERE name IS NOT NULL
            """
        ).all([.integer(account)]) { ($0.text("name"), $0.integer("sent_at")) }
    }

    /// The newest messages of all conversations: merges the conversations by repeatedly taking the newest of their next messages. An
    /// index of the common order would cost another write per message.
    private func newest(_ limit: Int) throws -> [Placed] {
        var heads = try activity().compactMap { try head(of: $0.conversation, before: (.max, .max)) }
        var found: [Placed] = []
        while found.count < limit, let place = heads.indices.max(by: { heads[$0].order < heads[$1].order }) {
            let head = heads[place]
            if let message = try Message.load(head.order.id, from: database) {
                found.append((message, head.order.position))
            }
            if let next = try self.head(of: head.conversation, before: head.order) {
                heads[place] = next
            } else {
                heads.remove(at: place)
            }
        }
        return found.reversed()
    }

    private func head(of conversation: String, before order: (position: Int64, id: Int64)) throws -> Head? {
        try database.statement(
            """
            SELECT position, id FROM message
            WHERE account = ? AND conversation = ? AND (position, id) < (?, ?) AND shown = 1
            ORDER BY position DESC, id DESC LIMIT 1
            """
        ).first([.integer(account), .text(conversation), .integer(order.position), .integer(order.id)]) {
            Head(conversation: conversation, order: ($0.integer("position"), $0.integer("id")))
        }
    }

    // MARK: One message

    /// The order number of the message in `row`.
    package func position(of row: Int64) throws -> Int64? { try Self.position(of: row, in: database) }

    /// The order number of the message in `row`.
    package static func position(of row: Int64, in database: Database) throws -> Int64? {
        try database.statement("SELECT position FROM message WHERE id = ?").first([.integer(row)]) { $0.integer() }
    }

    /// Whether the account has sent a message to `conversation`, from any device.
    package func hasWritten(to conversation: String) throws -> Bool {
        try database.statement(
            // Without `INDEXED BY` SQLite uses the index of all messages, and reads each incoming message.
            """
            SELECT 1 FROM message INDEXED BY message_written
            WHERE account = ? AND conversation = ? AND direction = 'out' AND shown = 1 LIMIT 1
            """
        ).first([.integer(account), .text(conversation)]) { _ in true } ?? false
    }

    /// The row of the last message to `conversation` with this message id, from any device of the account; a shown message takes
    /// precedence over a hidden one.
    package func sent(_ id: String, to conversation: String) throws -> Int64? {
        try database.statement(
            """
            SELECT id FROM message WHERE message_id = ? AND account = ? AND conversation = ? AND direction = 'out'
                ORDER BY shown DESC, position DESC LIMIT 1
            """
        ).first([.text(id), .integer(account), .text(conversation)]) { $0.integer() }
    }

    /// The message in `row`; nil if the account has no such message.
    package func message(_ row: Int64) throws -> Message? {
        try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author
            FROM message WHERE id = ? AND account = ?
            """
        ).first([.integer(row), .integer(account)]) { Message($0) }
    }

    /// Whether the message in `row` is an outgoing message accepted in this directory.
    package func isAccepted(_ row: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM message WHERE id = ? AND direction = 'out' AND received_at IS NULL")
            .first([.integer(row)]) { _ in true } ?? false
    }

    // MARK: References

    /// The newest shown message with this stanza id, or else with this origin-id.
    package func named(_ id: String) throws -> Message? {
        let row = try database.statement(
            """
            SELECT id FROM message WHERE message_id = ? AND account = ? AND shown = 1 ORDER BY position DESC LIMIT 1
            """
        ).first([.text(id), .integer(account)]) { $0.integer() }
        let named =
            try row
            ?? database.statement(
                """
                SELECT id FROM message WHERE origin_id = ? AND origin_id IS NOT NULL AND origin_id <> message_id
                    AND account = ? AND shown = 1 ORDER BY position DESC LIMIT 1
                """
            ).first([.text(id), .integer(account)]) { $0.integer() }
        return try named.flatMap { try message($0) }
    }

    /// A message that another message refers to.
    package struct Named {
        package let row: Int64
        /// Whether no other message has the id.
        package let isOnly: Bool
    }

    /// The possible authors of a message that an id refers to.
    package enum Writer {
        case anybody
        case user
        case others
        /// An occupant of a room (``IncomingMessage/author``).
        case occupant(String)

        fileprivate var direction: Direction? {
            switch self {
            case .anybody: nil
            case .user: .outgoing
            case .others, .occupant: .incoming
            }
        }

        fileprivate var author: String? {
            if case .occupant(let author) = self { author } else { nil }
        }
    }

    /// The message of `conversation` with this id: the only one, or of several the newest before the referring message. A match by the
    /// archive's id takes precedence: in a room any occupant may choose an id that the archive has assigned to another message.
    /// - Parameters:
    ///   - id: the id of the stanza, the origin-id, or the id in the conversation's archive.
    ///   - writer: the author of the message.
    ///   - naming: the row of the referring message; nil if it has no row, and is the newest.
    package func named(_ id: String, in conversation: String, by writer: Writer, from naming: Int64?) throws -> Named? {
        let values: [Value] = [
            .text(id), .integer(account), .text(conversation), .optional(writer.direction?.rawValue), .optional(naming),
            .optional(writer.author),
        ]
        let some = try database.statement(
            """
            SELECT id FROM message WHERE message_id = ?1 AND account = ?2 AND conversation = ?3
                AND direction = coalesce(?4, direction) AND id IS NOT ?5 AND (?6 IS NULL OR author = ?6)
            UNION ALL
            SELECT id FROM message WHERE origin_id = ?1 AND origin_id IS NOT NULL AND origin_id <> message_id
                AND account = ?2 AND conversation = ?3 AND direction = coalesce(?4, direction) AND id IS NOT ?5
                AND (?6 IS NULL OR author = ?6)
            UNION ALL
            SELECT id FROM message WHERE stanza_id = ?1 AND account = ?2 AND archive IN ('', ?3) AND conversation = ?3
                AND stanza_id <> message_id AND stanza_id IS NOT origin_id AND direction = coalesce(?4, direction)
                AND id IS NOT ?5 AND (?6 IS NULL OR author = ?6)
            LIMIT 2
            """
        ).all(values) { $0.integer() }
        guard some.count > 1 else { return some.first.map { Named(row: $0, isOnly: true) } }
        return try database.statement(
            """
            SELECT id FROM (
                SELECT id, position, 0 AS archived FROM message WHERE message_id = ?1 AND account = ?2 AND conversation = ?3
                    AND direction = coalesce(?4, direction) AND id IS NOT ?5 AND (?6 IS NULL OR author = ?6)
                UNION ALL
                SELECT id, position, 0 FROM message WHERE origin_id = ?1 AND origin_id IS NOT NULL
                    AND origin_id <> message_id AND account = ?2 AND conversation = ?3
                    AND direction = coalesce(?4, direction) AND id IS NOT ?5 AND (?6 IS NULL OR author = ?6)
                UNION ALL
                SELECT id, position, 1 FROM message WHERE stanza_id = ?1 AND account = ?2 AND archive IN ('', ?3)
                    AND conversation = ?3 AND direction = coalesce(?4, direction) AND id IS NOT ?5
                    AND (?6 IS NULL OR author = ?6))
            WHERE ?5 IS NULL OR position < (SELECT position FROM message WHERE id = ?5)
            ORDER BY archived DESC, position DESC LIMIT 1
            """
        ).first(values) { Named(row: $0.integer(), isOnly: false) }
    }

    /// The ids by which other messages refer to the message in `row`, and its conversation.
    package func names(of row: Int64) throws -> (ids: [String?], conversation: String)? {
        try database.statement("SELECT message_id, origin_id, stanza_id, conversation FROM message WHERE id = ?")
            .first([.integer(row)]) {
                (
                    [$0.text("message_id"), $0.optionalText("origin_id"), $0.optionalText("stanza_id")],
                    $0.text("conversation")
                )
            }
    }

    /// The author of the message in `row` in a room (``IncomingMessage/author``); nil if the author is not proven, or outside rooms.
    package func author(of row: Int64) throws -> String? {
        try database.statement("SELECT author FROM message WHERE id = ?").first([.integer(row)]) { $0.optionalText() }
            ?? nil
    }
}
