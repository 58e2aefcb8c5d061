import KalijCore
import KalijStore

/// The evidence that an own message is missing from the account's archive. The message did not arrive if the archive keeps messages to
/// that contact, and still has all messages from the time when the message was sent.
struct DeliveryEvidence {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }
    private var messages: MessageReader { MessageReader(database: database, account: step.account.id) }

    /// Messages that were sent in a lost session, and that the archive has not returned, in the order of sending.
    package func waiting() throws -> [OutboundQueue.Sent] {
        try OutboundQueue(database: database, account: step.account.id).sent()
    }

    /// Held messages whose outcome the archive does not determine, after it was read to its end.
    package func unknown() throws -> [Int64] {
        try waiting().filter { try !$0.isRepeatable && (!keeps($0.conversation) || !reachesBack(before: $0)) }
            .map(\.message)
    }

    /// Begins the reading of a new session: messages returned before may have been removed from the archive (simulation, seed
    /// 1032899).
    package func begin() throws { try database.run("DELETE FROM archive_shown WHERE account = ?", [account]) }

    /// Records that the archive has returned the stored message at `place`.
    package func shown(_ place: MessageWriter.Place) throws {
        try database.run(
            "INSERT OR IGNORE INTO archive_shown(account, own, message) VALUES (?, ?, ?)",
            [account, .integer(place.state == nil ? 0 : 1), .integer(place.row)])
    }

    /// Whether the archive keeps messages to `conversation`. The preferences determine it; without an entry there, the newest message
    /// acknowledged by the server has to be in the archive.
    private func keeps(_ conversation: String) throws -> Bool {
        if let keeps = try ArchivePreferences(step: step).keeps(conversation) { return keeps }
        return try messages.isNewestAcknowledgedArchived(in: conversation) ?? false
    }

    /// Whether the archive still has all messages from the time when the message was sent. Archives remove the oldest messages first.
    /// So the proof is an older message that the archive has returned in this session: the anchor, or another own message that was
    /// sent earlier.
    private func reachesBack(before sent: OutboundQueue.Sent) throws -> Bool {
        let anchors = try sent.anchor.map { try messages.rows(of: $0, in: .own) } ?? []
        if try anchors.contains(where: isShown) { return true }
        return try database.statement(
            "SELECT 1 FROM archive_shown WHERE account = ? AND own = 1 AND message < ? LIMIT 1"
        ).first([account, .integer(sent.message)]) { _ in true } ?? false
    }

    private func isShown(_ row: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM archive_shown WHERE account = ? AND own IN (0, 1) AND message = ?")
            .first([account, .integer(row)]) { _ in true } ?? false
    }
}
