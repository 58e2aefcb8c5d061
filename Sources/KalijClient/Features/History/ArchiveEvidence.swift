import KalijStore

/// What can be concluded from the absence of a message of ours in the account's archive: that the message did not arrive, if the
/// archive keeps what is sent to that contact, and still has what it kept when the message left.
struct ArchiveEvidence {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// A message that left in a session that is lost, and that the archive has not shown.
    struct Waiting {
        let row: Int64
        let conversation: String
        /// The archive's newest message that was known when it left.
        let anchor: String?
    }

    /// All of them, in the order in which they left.
    func waiting() throws -> [Waiting] {
        try database.statement(
            """
            SELECT m.id, m.conversation, m.anchor FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = 'sent' ORDER BY q.id
            """
        ).all([account]) { Waiting(row: $0.integer(0), conversation: $0.text(1), anchor: $0.optionalText(2)) }
    }

    /// Those of which the archive cannot tell whether they arrived, after `round` has read it to its end.
    func unknown(after round: Round) throws -> [Int64] {
        try waiting().filter { try !keeps($0.conversation) || !reachesBack(before: $0, round) }.map(\.row)
    }

    /// Whether the archive keeps what is sent to `conversation`: the preferences say so, or, where they leave it open, the newest
    /// message that the server took is there.
    private func keeps(_ conversation: String) throws -> Bool {
        if let keeps = try ArchivePreferences(step: step).keeps(conversation) { return keeps }
        return try database.statement(
            """
            SELECT catchup > 0 FROM (SELECT direction, state, catchup, position FROM message INDEXED BY message_order
                WHERE account = ? AND conversation = ? ORDER BY position DESC LIMIT 500)
            WHERE direction = 'out' AND state = 'acked' ORDER BY position DESC LIMIT 1
            """
        ).first([account, .text(conversation)]) { $0.bool(0) } ?? false
    }

    /// Whether the archive has lost nothing since the message left. Archives forget the oldest first: so `round` has shown something
    /// that was there before the message left. That is the anchor, or another message of ours that left earlier.
    private func reachesBack(before message: Waiting, _ round: Round) throws -> Bool {
        let isAnchorThere = try database.statement(
            "SELECT 1 FROM message WHERE account = ? AND archive = '' AND stanza_id = ? AND catchup = ? LIMIT 1"
        ).first([account, .optional(message.anchor), .integer(round.number)]) { _ in true }
        if isAnchorThere ?? false { return true }
        return try database.statement(
            """
            SELECT 1 FROM message NOT INDEXED WHERE id < ?2 AND id > ?2 - 1000 AND account = ?1 AND direction = 'out'
                AND received_at IS NULL AND archive = '' AND catchup = ?3 LIMIT 1
            """
        ).first([account, .integer(message.row), .integer(round.number)]) { _ in true } ?? false
    }
}
