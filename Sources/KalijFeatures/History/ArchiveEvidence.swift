import KalijSteps
import KalijStore

/// The evidence in the absence of an own message from the account's archive. The message did not arrive if the archive
/// keeps messages to that contact, and still has all messages from the time when the message left.
struct ArchiveEvidence {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// A message that left in a lost session, and that the archive has not shown.
    struct Waiting {
        package let row: Int64
        package let conversation: String
        /// The newest known message of the archive at the time when the message left.
        package let anchor: String?
    }

    /// All such messages, in the order in which they left.
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

    /// Waiting messages with an outcome that the archive cannot tell, after the archive was read to its end.
    package func unknown() throws -> [Int64] {
        try waiting().filter { try !keeps($0.conversation) || !reachesBack(before: $0) }.map(\.row)
    }

    /// A new session begins to read: messages shown before may be gone from the archive (simulation, seed 1032899).
    package func begin() throws { try database.run("DELETE FROM archive_shown WHERE account = ?", [account]) }

    /// The archive has shown the known message in `place`.
    package func shown(_ place: Messages.Place) throws {
        try database.run(
            "INSERT OR IGNORE INTO archive_shown(account, own, message) VALUES (?, ?, ?)",
            [account, .integer(place.state == nil ? 0 : 1), .integer(place.row)])
    }

    /// Whether the archive keeps messages to `conversation`. The preferences decide; if they are silent, the newest
    /// message accepted by the server has to be in the archive.
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

    /// Whether the archive still has all messages from the time when the message left. Archives remove the oldest
    /// messages first. So the proof is an older message shown by the archive in this session: the anchor, or another
    /// own message that left earlier.
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
