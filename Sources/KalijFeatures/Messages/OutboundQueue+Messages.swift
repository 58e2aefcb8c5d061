import KalijSteps
import KalijStore

/// What of the queue carries messages of the user's. Such a message has a row of both tables.
extension OutboundQueue {
    /// A message that has left, and that nobody has seen arrive.
    package struct Sent {
        package let message: Int64
        package let conversation: String
        /// The newest message of the account's archive that was known when it left.
        package let anchor: String?
    }

    /// All of them, in the order in which they left.
    package func sent() throws -> [Sent] {
        try database.statement(
            """
            SELECT m.id, m.conversation, m.anchor FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = ? ORDER BY q.id
            """
        ).all([.integer(account), .state(MessageState.sent)]) {
            Sent(message: $0.integer("id"), conversation: $0.text("conversation"), anchor: $0.optionalText("anchor"))
        }
    }

    /// The first of them; nil if there is none.
    package func firstSent() throws -> Sent? {
        try database.statement(
            """
            SELECT m.id, m.conversation, m.anchor FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = ? ORDER BY q.id LIMIT 1
            """
        ).first([.integer(account), .state(MessageState.sent)]) {
            Sent(message: $0.integer("id"), conversation: $0.text("conversation"), anchor: $0.optionalText("anchor"))
        }
    }

    /// Removes messages that have arrived, as the archive has shown, or have failed.
    package func removeSettled() throws {
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IN (SELECT q.message FROM queue q
                JOIN message m ON m.id = q.message WHERE q.account = ?1 AND m.state NOT IN (?2, ?3))
            """, [.integer(account), .state(MessageState.queued), .state(MessageState.sent)])
    }

    /// Removes all messages but those that have never left.
    func removeSent() throws {
        // The states in words are those of the index `message_unfinished`, which is used only if they are named.
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IS NOT NULL
                AND message NOT IN (SELECT id FROM message
                    WHERE account = ?1 AND state IN ('queued', 'sent', 'failed') AND state = ?2)
            """, [.integer(account), .state(MessageState.queued)])
    }

    /// Removes a message.
    func remove(message: Int64) throws {
        try database.run(
            "DELETE FROM queue WHERE account = ? AND message = ?", [.integer(account), .integer(message)])
    }

    /// Lets messages leave again, except messages shown by the archive meanwhile. The messages go after all stanzas
    /// that have left since, so the queue keeps the order of the server's count.
    /// - Returns: whether messages were held.
    package func release() throws -> Bool {
        guard try set(.none) else { return false }
        let last =
            try database.statement("SELECT max(id) FROM queue WHERE account = ?")
            .first([.integer(account)]) { $0.integer() } ?? 0
        try database.run(
            """
            INSERT INTO queue(account, message, stanza, blamed) SELECT q.account, q.message, q.stanza, q.blamed
            FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state IN (?, ?) ORDER BY q.id
            """, [.integer(account), .state(MessageState.queued), .state(MessageState.sent)])
        try database.run(
            "DELETE FROM queue WHERE account = ? AND message IS NOT NULL AND id <= ?",
            [.integer(account), .integer(last)])
        return true
    }
}
