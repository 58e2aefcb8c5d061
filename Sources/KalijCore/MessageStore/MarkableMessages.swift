import KalijStore

/// The messages that a marker may name (XEP-0333).
package struct MarkableMessages {
    let database: Database
    let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// The newest incoming message that requests a marker (XEP-0333), after the order number `first` and up to `last`, among the
    /// newest thousand messages there.
    package func newest(
        in conversation: String, after first: Int64, through last: Int64
    ) throws -> (row: Int64, id: String)? {
        try database.statement(
            """
            SELECT id, message_id FROM (
                SELECT id, message_id, markable, position FROM message INDEXED BY message_order
                WHERE account = ? AND conversation = ? AND position > ? AND position <= ? AND shown = 1
                    AND direction = 'in' AND type <> 'groupchat' ORDER BY position DESC LIMIT 1000)
            WHERE markable AND message_id <> '' ORDER BY position DESC LIMIT 1
            """
        ).first([.integer(account), .text(conversation), .integer(first), .integer(last)]) {
            ($0.integer("id"), $0.text("message_id"))
        }
    }

    /// The newest message of others, or of the user, that `room` has given an id, in the same range.
    package func newest(_ direction: Direction, in room: String, after first: Int64, through last: Int64) throws -> (
        row: Int64, id: String
    )? {
        try database.statement(
            """
            SELECT id, stanza_id FROM (
                SELECT id, stanza_id, direction, position FROM message INDEXED BY message_order
                WHERE account = ? AND conversation = ? AND position > ? AND position <= ? AND shown = 1
                ORDER BY position DESC LIMIT 1000)
            WHERE direction = ? AND stanza_id IS NOT NULL ORDER BY position DESC LIMIT 1
            """
        ).first([
            .integer(account), .text(room), .integer(first), .integer(last), .text(direction.rawValue),
        ]) {
            ($0.integer("id"), $0.text("stanza_id"))
        }
    }
}
