import KalijStore

/// The user's messages in the queue. Such a message has a row in both tables.
extension OutboundQueue {
    /// A message that was sent, without evidence of its arrival.
    package struct Sent {
        package let message: Int64
        package let conversation: String
        /// The newest message of the account's archive when the message was sent.
        package let anchor: String?
        /// Whether the message is sent again if its outcome is unknown.
        package let isRepeatable: Bool
    }

    /// Messages without evidence, in the order of sending.
    /// - Parameter limit: the maximum number; nil for all.
    package func sent(limit: Int64? = nil) throws -> [Sent] {
        // SQLite treats a negative limit as none.
        try database.statement(
            """
            SELECT m.id, m.conversation, m.anchor, q.lasting FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = ? ORDER BY q.id LIMIT ?
            """
        ).all([.integer(account), .state(MessageState.sent), .integer(limit ?? -1)]) {
            Sent(
                message: $0.integer("id"), conversation: $0.text("conversation"), anchor: $0.optionalText("anchor"),
                isRepeatable: $0.bool("lasting"))
        }
    }

    /// The first message of ``sent(limit:)``; nil if there is none.
    package func firstSent() throws -> Sent? { try sent(limit: 1).first }

    /// Whether a message or a request that was never sent is among the first `number` entries that the server can have counted: then the server has
    /// counted stanzas that this database does not contain.
    package func hasNeverLeft(among number: Int) throws -> Bool {
        guard number > 0 else { return false }
        return try database.statement(
            """
            SELECT EXISTS (SELECT 1 FROM message m WHERE m.id IN (queue.message, queue.groupchat) AND m.state = ?3)
                OR EXISTS (SELECT 1 FROM request r WHERE r.account = ?1 AND r.id = queue.request AND r.sent = 0) AS never
            FROM queue
            WHERE account = ?1 AND (message IS NULL OR ?4) ORDER BY id LIMIT ?2
            """
        ).all(
            [
                .integer(account), .integer(Int64(number)), .state(MessageState.queued),
                .integer(try holding() == .none ? 1 : 0),
            ]
        ) { $0.bool("never") }.contains(true)
    }

    /// Removes messages that have arrived, according to the archive, or have failed; and of a message that is sent again the entries of
    /// earlier sendings.
    package func removeSettled() throws {
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IN (SELECT q.message FROM queue q
                JOIN message m ON m.id = q.message WHERE q.account = ?1 AND m.state NOT IN (?2, ?3))
            """, [.integer(account), .state(MessageState.queued), .state(MessageState.sent)])
        try database.run(
            """
            DELETE FROM queue WHERE account = ? AND message IS NOT NULL
                AND EXISTS (SELECT 1 FROM queue later WHERE later.message = queue.message AND later.id > queue.id)
            """, [.integer(account)])
    }

    /// Removes all messages except those that were never sent, and those that are sent again.
    package func removeSent() throws {
        // The index `message_unfinished` is used only if the statement repeats the condition of the index.
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IS NOT NULL AND NOT lasting
                AND message NOT IN (SELECT id FROM message
                    WHERE account = ?1 AND direction = 'out' AND (state = 'queued' OR state = 'sent' OR state = 'failed')
                        AND state = ?2)
            """, [.integer(account), .state(MessageState.queued)])
    }

    /// Removes a message.
    package func remove(message: Int64) throws {
        try database.run(
            "DELETE FROM queue WHERE account = ? AND message = ?", [.integer(account), .integer(message)])
    }

    /// Releases held messages, except those that the archive has returned in the meantime. They are enqueued again after all stanzas
    /// sent since, so that the queue keeps the order of the server's count.
    /// - Returns: whether messages were held.
    package func release() throws -> Bool {
        guard try set(.none) else { return false }
        let last =
            try database.statement("SELECT max(id) FROM queue WHERE account = ?")
            .first([.integer(account)]) { $0.integer() } ?? 0
        try database.run(
            """
            INSERT INTO queue(account, message, stanza, blamed, lasting)
            SELECT q.account, q.message, q.stanza, q.blamed, q.lasting
            FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state IN (?, ?) ORDER BY q.id
            """, [.integer(account), .state(MessageState.queued), .state(MessageState.sent)])
        try database.run(
            "DELETE FROM queue WHERE account = ? AND message IS NOT NULL AND id <= ?",
            [.integer(account), .integer(last)])
        return true
    }
}
