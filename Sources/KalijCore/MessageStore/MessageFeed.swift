import KalijStore

/// An account's shown messages by their ids, which only grow: in the order in which they were stored.
package struct MessageFeed {
    private let database: Database
    private let account: Int64

    package init(database: Database, account: Int64) {
        self.database = database
        self.account = account
    }

    /// How many ids are skipped after a power failure, which may have undone messages that were already reported: more ids than fit
    /// into a write-ahead log between two syncs.
    package static let leftOut: Int64 = 10_000

    /// The highest id assigned so far; 0 if there is none.
    package static func last(in database: Database) throws -> Int64 {
        try database.statement(
            "SELECT max(g.id, coalesce((SELECT max(id) FROM message), 0)) AS id FROM message_gone g"
        ).first { $0.integer("id") } ?? 0
    }

    /// Skips ids after the last commits may have been lost with the machine: the ids of their messages must not be assigned to other
    /// messages. Call this in a transaction that syncs.
    package static func leaveOut(in database: Database) throws {
        try database.run(
            "UPDATE message_gone SET id = max(id, coalesce((SELECT max(id) FROM message), 0)) + ?", [.integer(leftOut)])
    }

    /// Up to this many rows are scanned without counting the matching messages first.
    package static let few: Int64 = 10_000

    /// The oldest `limit` messages with an id above `id`.
    ///
    /// An index in this order would cost another page for each message. So the rows after `id` are scanned, of all accounts and
    /// conversations, until enough match: if few rows follow, or if many messages match, so that the next one is near. If few messages
    /// match, all of them are read from the index of their conversations instead.
    /// - Parameter conversation: the bare address of a conversation; nil for all conversations.
    package func page(_ limit: Int, with conversation: String?, after id: Int64) throws -> [Message] {
        let following = try Self.last(in: database).subtractingReportingOverflow(id)
        guard following.partialValue > 0 || following.overflow, limit > 0 else { return [] }
        guard following.overflow || following.partialValue > Self.few, try areFew(conversation) else {
            return try rows(limit, with: conversation, after: id)
        }
        let messages = MessageReader(database: database, account: account)
        return try indexed(limit, with: conversation, after: id).compactMap { try messages.message($0) }
    }

    private func rows(_ limit: Int, with conversation: String?, after id: Int64) throws -> [Message] {
        try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author
            FROM message NOT INDEXED
            WHERE id > ? AND account = ? AND shown = 1 AND conversation = coalesce(?, conversation) ORDER BY id LIMIT ?
            """
        ).all([.integer(id), .integer(account), .optional(conversation), .integer(Int64(limit))]) { Message($0) }
    }

    private func areFew(_ conversation: String?) throws -> Bool {
        let sql: StaticString =
            conversation == nil
            ? "SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_order WHERE account = ? AND shown = 1 LIMIT ?)"
            : """
            SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_order
                WHERE account = ? AND shown = 1 AND conversation = ? LIMIT ?)
            """
        let values: [Value] = [.integer(account)] + (conversation.map { [.text($0)] } ?? []) + [.integer(Self.few + 1)]
        return try database.statement(sql).first(values) { $0.integer() } ?? 0 <= Self.few
    }

    private func indexed(_ limit: Int, with conversation: String?, after id: Int64) throws -> [Int64] {
        let sql: StaticString =
            conversation == nil
            ? """
            SELECT id FROM message INDEXED BY message_order WHERE account = ? AND shown = 1 AND id > ? ORDER BY id LIMIT ?
            """
            : """
            SELECT id FROM message INDEXED BY message_order
            WHERE account = ? AND shown = 1 AND conversation = ? AND id > ? ORDER BY id LIMIT ?
            """
        let values: [Value] =
            [.integer(account)] + (conversation.map { [.text($0)] } ?? []) + [.integer(id), .integer(Int64(limit))]
        return try database.statement(sql).all(values) { $0.integer() }
    }
}
