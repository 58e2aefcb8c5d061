import KalijSteps
import KalijStore

/// A notification to show to the user, or to withdraw.
public struct Notification: Sendable, Equatable {
    /// The action.
    public enum Kind: String, Sendable {
        /// A message came: show the notification.
        case show
        /// The message was read on another device: remove the notification.
        case withdraw
    }

    /// Whether to show or to remove the notification.
    public let kind: Kind
    /// The same for all notifications of a message: a new notification replaces the shown notification.
    public let identifier: String
    /// The account's bare address.
    public let account: String
    /// The bare address of the other side.
    public let conversation: String
    /// The full address of the sender.
    public let sender: String
    /// The text of the message.
    public let body: String
    /// When the message was sent, in milliseconds since 1970.
    public let at: Int64
}

/// The notifications owed to the user: rows of the message's own transaction, done after they were shown. A
/// notification that is being shown when the process dies is shown again.
package struct NotificationOutbox {
    package let database: Database

    package init(database: Database) { self.database = database }

    /// How many shown notifications are remembered, to be withdrawn.
    private static let remembered: Int64 = 1000

    package struct Entry: Sendable {
        package let id: Int64
        package let message: Int64
        package let notification: Notification
    }

    /// The most bytes of text in one reading, except for the last entry.
    private static let portion = 256 * 1024

    /// The oldest notifications that are not done: at most `limit`, fewer if they are long, at least one if there is
    /// any.
    package func pending(limit: Int) throws -> [Entry] {
        var (entries, bytes): ([Entry], Int) = ([], 0)
        try database.statement(
            """
            SELECT n.id, n.kind, n.message, a.jid, n.conversation, m.sender, m.body, m.sent_at
            FROM notification n JOIN message m ON m.id = n.message JOIN account a ON a.id = n.account
            WHERE n.done = 0 ORDER BY n.id LIMIT ?
            """
        ).prefix(
            [.integer(Int64(limit))],
            while: { row in
                let entry = Entry(
                    id: row.integer("id"), message: row.integer("message"),
                    notification: Notification(
                        kind: Notification.Kind(rawValue: row.text("kind")) ?? .show,
                        identifier: "\(row.integer("message"))",
                        account: row.text("jid"), conversation: row.text("conversation"), sender: row.text("sender"),
                        body: row.text("body"),
                        at: row.integer("sent_at")))
                entries.append(entry)
                bytes += entry.notification.body.utf8.count
                return bytes < Self.portion
            })
        return entries
    }

    /// Notes that `entries`, the oldest, are going to be shown. Call this in a transaction, and show the notifications
    /// after its commit. From then on the user may have seen them, even if this process dies before the entries are
    /// marked as done: messages read on another device are withdrawn.
    package func begin(_ entries: [Entry]) throws {
        guard let last = entries.last else { return }
        try database.run(
            "UPDATE notification SET begun = 1 WHERE done = 0 AND begun = 0 AND id <= ?", [.integer(last.id)])
    }

    /// `entries` were shown; to be called in a transaction.
    package func done(_ entries: [Entry]) throws {
        for entry in entries {
            // An entry of a changed kind still has to be shown as the new kind.
            try database.run(
                "DELETE FROM notification WHERE id = ? AND kind = 'withdraw' AND ? = 'withdraw'",
                [.integer(entry.id), .text(entry.notification.kind.rawValue)])
            try database.run(
                "UPDATE notification SET done = 1 WHERE id = ? AND kind = ?",
                [.integer(entry.id), .text(entry.notification.kind.rawValue)])
            if entry.notification.kind == .show, database.changes == 0 { try withdraw(entry) }
        }
        try database.run(
            "DELETE FROM notification WHERE done = 1 AND id <= (SELECT max(id) FROM notification) - ?",
            [.integer(Self.remembered)])
    }

    /// The message was read on another device while the notification was being shown here, and the row was deleted.
    private func withdraw(_ entry: Entry) throws {
        try database.run(
            """
            INSERT INTO notification(account, message, conversation, kind)
            SELECT account, id, conversation, 'withdraw' FROM message WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM notification WHERE message = ?1)
            """, [.integer(entry.message)])
    }
}

/// A step's work on notifications.
struct Notifying {
    package let step: Step
    private var account: Value { .integer(step.account.id) }

    /// A message was stored in `row`. Archived messages from before the account was added cause no notification.
    package func stored(_ received: IncomingMessage, row: Int64) throws {
        guard step.notifies, received.direction == .incoming, received.body != nil,
            received.type == "chat" || received.type == "normal",
            try received.source != .archive || received.sentAt >= ServerTime(step: step).since
        else { return }
        try step.database.run(
            """
            INSERT INTO notification(account, message, conversation, kind)
            VALUES (?, ?, ?, 'show')
            """, [account, .integer(row), .text(received.conversation)])
        step.notified()
    }

    /// Another device of the account has shown the message `id` in `conversation`, and all messages before (XEP-0333).
    func displayed(_ id: String, in conversation: String) throws {
        let position =
            try step.database.statement(
                """
                SELECT max(m.position) FROM notification n JOIN message m ON m.id = n.message
                WHERE n.account = ?1 AND n.conversation = ?2 AND (m.message_id = ?3 OR m.stanza_id = ?3)
                """
            ).first([account, .text(conversation), .text(id)]) { $0.optionalInteger() } ?? nil
        guard let position else { return }
        try withdraw(through: position, in: conversation)
    }

    /// Another device of the account has shown the message with the id `id` in `archive`, and all messages before
    /// (XEP-0490). An unknown id is ignored (section 5.1).
    func displayed(archived id: String, by archive: Archive, in conversation: String) throws {
        let position =
            try step.database.statement(
                "SELECT max(position) FROM message WHERE account = ? AND archive = ? AND stanza_id = ? AND conversation = ?"
            ).first([account, .text(archive.key), .text(id), .text(conversation)]) { $0.optionalInteger() } ?? nil
        guard let position else { return }
        try withdraw(through: position, in: conversation)
    }

    /// Whether any notification is owed or was shown.
    package var isAny: Bool {
        get throws {
            try step.database.statement("SELECT 1 FROM notification WHERE account = ? LIMIT 1").first([account]) { _ in
                true
            }
                ?? false
        }
    }

    private func withdraw(through position: Int64, in conversation: String) throws {
        try step.database.run(
            """
            DELETE FROM notification WHERE account = ?1 AND conversation = ?2 AND kind = 'show' AND NOT (begun OR done)
                AND message IN (SELECT id FROM message WHERE account = ?1 AND conversation = ?2 AND position <= ?3)
            """, [account, .text(conversation), .integer(position)])
        try step.database.run(
            """
            UPDATE notification SET kind = 'withdraw', done = 0
            WHERE account = ?1 AND conversation = ?2 AND kind = 'show'
                AND message IN (SELECT id FROM message WHERE account = ?1 AND conversation = ?2 AND position <= ?3)
            """, [account, .text(conversation), .integer(position)])
        step.notified()
    }
}
