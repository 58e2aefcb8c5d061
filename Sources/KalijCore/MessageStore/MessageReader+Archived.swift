import KalijStore

/// Queries for the archive columns of messages.
extension MessageReader {
    /// The order number of the message with the archive's id `id`, its time in the archive, and the last round that has returned the
    /// message.
    package func place(of id: String, in archive: Archive) throws -> (position: Int64, at: Int64, catchup: Int64)? {
        try database.statement(
            """
            SELECT position, sent_at, catchup FROM message WHERE account = ? AND archive = ? AND stanza_id = ?
            ORDER BY position LIMIT 1
            """
        ).first([.integer(account), .text(archive.key), .text(id)]) {
            ($0.integer("position"), $0.integer("sent_at"), $0.integer("catchup"))
        }
    }

    /// The rows of the messages with the archive's id `id`: some servers assign one id to several messages.
    package func rows(of id: String, in archive: Archive) throws -> [Int64] {
        try database.statement("SELECT id FROM message WHERE account = ? AND archive = ? AND stanza_id = ?")
            .all([.integer(account), .text(archive.key), .text(id)]) { $0.integer() }
    }

    /// Whether the own message in `row` was sent while a message of the archive was known.
    package func hasLeft(_ row: Int64) throws -> Bool {
        try database.statement("SELECT anchor IS NOT NULL FROM message WHERE id = ?").first([.integer(row)]) {
            $0.bool()
        }
            ?? false
    }

    /// Whether an archive has returned the newest message to `conversation` that the server has acknowledged and that is not
    /// retracted: the server may have erased a retracted message. nil without such a message among the last 500.
    package func isNewestAcknowledgedArchived(in conversation: String) throws -> Bool? {
        try database.statement(
            """
            SELECT catchup > 0 FROM (SELECT direction, state, catchup, position, erased FROM message INDEXED BY message_order
                WHERE account = ? AND conversation = ? AND shown = 1 ORDER BY position DESC LIMIT 500)
            WHERE direction = ? AND state IN (?, ?, ?) AND erased IS NULL ORDER BY position DESC LIMIT 1
            """
        ).first([
            .integer(account), .text(conversation), .state(Direction.outgoing), .state(MessageState.acked),
            .state(MessageState.delivered), .state(MessageState.displayed),
        ]) { $0.bool() }
    }

    /// The rows of an archive's messages after the order number `position` that the round `round` has not returned, in their order;
    /// without retracted messages, which a server may have erased (XEP-0424; measured: ejabberd 24.12).
    /// - Returns: at most one more than ``maxUnshown``.
    package func unshown(by round: Int64, of archive: Archive, after position: Int64) throws -> [Int64] {
        try database.statement(
            """
            WITH RECURSIVE c(name) AS (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 1
                UNION ALL SELECT
                    (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 1 AND conversation > name)
                    FROM c WHERE name IS NOT NULL),
            h(name) AS (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 0
                UNION ALL SELECT
                    (SELECT min(conversation) FROM message WHERE account = ?1 AND shown = 0 AND conversation > name)
                    FROM h WHERE name IS NOT NULL)
            SELECT id FROM (
                SELECT m.id, m.position FROM c CROSS JOIN message m INDEXED BY message_order
                    ON m.account = ?1 AND m.conversation = c.name AND m.position > ?3 AND m.shown = 1
                WHERE m.archive = ?2 AND m.catchup < ?4
                    AND (m.erased IS NULL OR m.state IN (?5, ?6))
                UNION ALL
                SELECT m.id, m.position FROM h CROSS JOIN message m INDEXED BY message_hidden
                    ON m.account = ?1 AND m.conversation = h.name AND m.position > ?3 AND m.shown = 0
                WHERE m.archive = ?2 AND m.catchup < ?4 LIMIT ?7) ORDER BY position
            """
        ).all(
            [
                .integer(account), .text(archive.key), .integer(position), .integer(round),
                .state(MessageState.queued), .state(MessageState.sent), .integer(Self.maxUnshown + 1),
            ]
        ) { $0.integer() }
    }

    /// The maximum number of messages that one step moves: an archive that omits more messages, and returns an older one in a new
    /// place, would otherwise cause as many writes in the step.
    package static let maxUnshown: Int64 = 5000
}
