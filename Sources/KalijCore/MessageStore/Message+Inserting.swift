import KalijStore

extension Message {
    /// Stores the message in a new row, which gives it its ``id``.
    /// - Parameters:
    ///   - position: the order number of the message.
    ///   - archive: whose archive the ``stanzaID`` belongs to.
    ///   - received: what was received; nil for a message accepted here.
    ///   - catchup: the catch-up that confirms the position.
    /// - Returns: false if the message has a row already.
    package mutating func insert(
        at position: Int64, in archive: String, from received: IncomingMessage? = nil, catchup: Int64 = 0, in step: Step
    ) throws -> Bool {
        try step.database.run(
            """
            INSERT INTO message(id, account, direction, conversation, position, archive, stanza_id, message_id, origin_id,
                sender, recipient, type, body, shown, reply_to, encryption, sent_at, received_at, state, catchup,
                markable, author)
            VALUES (coalesce(?, (SELECT max(g.id, coalesce((SELECT max(id) FROM message), 0)) + 1 FROM message_gone g)),
                ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            [
                .optional(step.transaction.lastInserted.map { $0 + 1 }), .integer(step.account.id),
                .state(direction),
                .text(conversation), .integer(position), .text(archive),
                .optional(stanzaID), .text(messageID), .optional(originID), .text(from), .text(to), .text(type),
                .optional(body), .integer(isShown ? 1 : 0), .optional(repliesTo), .optional(encryption?.stored),
                .integer(sentAt), received == nil ? .null : .integer(step.now), .optional(state?.rawValue),
                .integer(catchup), .integer(received?.isMarkable ?? false ? 1 : 0), .optional(received?.author),
            ])
        guard step.database.changes > 0 else { return false }
        id = step.database.lastInsertedRow
        step.transaction.inserted(id, at: position, isShown: isShown)
        if isShown, direction == .outgoing { step.transaction.forgetChatPartners() }
        if isShown { try step.messageStored() }
        return true
    }
}
