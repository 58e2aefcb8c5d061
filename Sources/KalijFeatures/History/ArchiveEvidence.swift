import KalijSteps
import KalijStore

/// What can be concluded from the absence of a message of ours in the account's archive: that the message did not arrive, if the
/// archive keeps what is sent to that contact, and still has what it kept when the message left.
struct ArchiveEvidence {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// A message that left in a session that is lost, and that the archive has not shown.
    struct Waiting {
        package let row: Int64
        package let conversation: String
        /// The archive's newest message that was known when it left.
        package let anchor: String?
    }

    /// All of them, in the order in which they left.
    package func waiting() throws -> [Waiting] {
        try database.statement(
            """
            SELECT m.id, m.conversation, m.anchor FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = 'sent' ORDER BY q.id
            """
        ).all([account]) {
            Waiting(row: $0.integer("id"), conversation: $0.text("conversation"), anchor: $0.optionalText("anchor"))
        }
    }

    /// Waiting messages whose outcome the archive cannot tell, once the archive was read to its end.
    package func unknown() throws -> [Int64] {
        try waiting().filter { try !keeps($0.conversation) || !reachesBack(before: $0) }.map(\.row)
    }

    /// A new session begins to read: what the archive has shown before may be gone (simulation, seed 1032899).
    package func begin() throws { try database.run("DELETE FROM archive_shown WHERE account = ?", [account]) }

    /// The archive has shown the message in `place`, which was known.
    package func shown(_ place: Messages.Place) throws {
        try database.run(
            "INSERT OR IGNORE INTO archive_shown(account, own, message) VALUES (?, ?, ?)",
            [account, .integer(place.state == nil ? 0 : 1), .integer(place.row)])
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
        ).first([account, .text(conversation)]) { $0.bool() } ?? false
    }

    /// Whether the archive has lost nothing since the message left. Archives forget the oldest first. So the proof is an older message
    /// that the archive has shown in this session: the anchor, or another message of ours that left earlier.
    private func reachesBack(before message: Waiting) throws -> Bool {
        let isAnchorThere = try database.statement(
            """
            SELECT 1 FROM message m JOIN archive_shown s ON s.account = m.account AND s.own IN (0, 1) AND s.message = m.id
            WHERE m.account = ? AND m.archive = '' AND m.stanza_id = ? LIMIT 1
            """
        ).first([account, .optional(message.anchor)]) { _ in true }
        if isAnchorThere ?? false { return true }
        return try database.statement(
            "SELECT 1 FROM archive_shown WHERE account = ? AND own = 1 AND message < ? LIMIT 1"
        ).first([account, .integer(message.row)]) { _ in true } ?? false
    }
}
