import KalijStore

extension Message {
    /// The message accepted in this directory under `id`, in any state.
    package static func accepted(_ id: String, by account: Account, in database: Database) throws -> Message? {
        try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author
            FROM message WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL
            """
        ).first([.integer(account.id), .text(id)]) { Message($0) }
    }

    /// The message in row `id`.
    package static func load(_ id: Int64, from database: Database) throws -> Message? {
        try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author
            FROM message WHERE id = ?
            """
        ).first([.integer(id)]) { Message($0) }
    }
}
