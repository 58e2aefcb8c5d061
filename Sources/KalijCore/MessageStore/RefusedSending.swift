import KalijStore

/// The first sending of a text that was refused, and is sent again under the same id.
struct RefusedSending {
    /// The row of the text.
    let row: Int64

    /// Whether the account's archive returns the first copy of the text: the copy proves nothing about the second sending.
    func isCopied(by received: IncomingMessage, in step: Step) throws -> Bool {
        try step.database.statement(
            """
            SELECT bounced AND type <> 'groupchat' AND conversation <> ?2 AND coalesce(stanza_id, ?3) IS ?3 FROM message
            WHERE id = ?1
            """
        ).first([.integer(row), .text(step.account.jid.description), .optional(received.stanzaID)]) { $0.bool() }
            ?? false
    }
}
