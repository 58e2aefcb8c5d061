import KalijStore

/// The sendings of a text that were refused, before the text was sent again under the same id. The server archives each of them, in
/// order: so the first copies, as many as were refused, prove nothing about the present sending.
struct RefusedSending {
    /// The row of the text.
    let row: Int64

    /// Records that the last sending was refused, if it was, and the copy that is known of it.
    func record(in step: Step) throws {
        try step.database.run(
            """
            INSERT OR IGNORE INTO refused_copy(message, stanza_id)
            SELECT id, stanza_id FROM message WHERE id = ? AND state = ? AND stanza_id IS NOT NULL
            """, [.integer(row), .state(MessageState.failed)])
        try step.database.run(
            "UPDATE message SET bounced = bounced + 1 WHERE id = ? AND state = ?",
            [.integer(row), .state(MessageState.failed)])
    }

    /// Whether the account's archive returns the copy of a refused sending.
    func isCopied(by received: IncomingMessage, in step: Step) throws -> Bool {
        let refused =
            try step.database.statement(
                "SELECT bounced FROM message WHERE id = ? AND bounced > 0 AND type <> 'groupchat' AND conversation <> ?"
            ).first([.integer(row), .text(step.account.jid.description)]) { $0.integer() }
        guard let refused, let id = received.stanzaID else { return false }
        try step.database.run(
            "INSERT OR IGNORE INTO refused_copy(message, stanza_id) VALUES (?, ?)", [.integer(row), .text(id)])
        let rank = try step.database.statement(
            """
            SELECT count(*) FROM refused_copy WHERE message = ?1
                AND id <= (SELECT id FROM refused_copy WHERE message = ?1 AND stanza_id = ?2)
            """
        ).first([.integer(row), .text(id)]) { $0.integer() }
        return rank.map { $0 <= refused } ?? false
    }
}
