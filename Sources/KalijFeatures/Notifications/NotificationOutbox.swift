import KalijCore
import KalijStore

/// A notification to show to the user, or to withdraw.
public struct Notification: Sendable, Equatable {
    /// The action.
    public enum Kind: String, Sendable {
        /// Show the notification of a received message.
        case show
        /// Remove the notification: the message was read on another device.
        case withdraw
    }

    /// Whether to show or to remove the notification.
    public let kind: Kind
    /// The identifier of all notifications of a message: a new notification replaces the shown one.
    public let identifier: String
    /// The account's bare address.
    public let account: String
    /// The bare address of the other side; empty if the user has disabled sender and text in notifications.
    public let conversation: String
    /// The bare address of the other side, even if the user has disabled sender and text: a key that groups notifications, not
    /// to be shown.
    public let peer: String
    /// The full address of the sender; empty if the user has disabled it.
    public let sender: String
    /// The text of the message; empty if there is no readable text, or if the user has disabled it in notifications.
    public let body: String
    /// When the message was sent, in milliseconds since 1970.
    public let at: Int64
}

/// The outbox of notifications to the user: rows written in the message's own transaction, and marked as done after they were shown. A
/// notification that is being shown when the process dies is shown again.
package struct NotificationOutbox {
    package let database: Database

    package init(database: Database) { self.database = database }

    /// How many shown notifications are kept, so that they can be withdrawn.
    private static let remembered: Int64 = 1000

    package struct Entry: Sendable {
        package let id: Int64
        let account: Int64
        package let message: Int64
        package let notification: Notification
        /// What the presenter needs to replace or to withdraw the conversation's shown notification; nil leaves it unchanged.
        var handle: String?
    }

    /// The maximum number of text bytes in one read, except for the last entry.
    private static let batchSize = 256 * 1024

    /// The oldest pending notifications: at most `limit`, fewer if they are long, at least one if there is any.
    package func pending(limit: Int) throws -> [Entry] {
        let addresses = try AccountTable(database).addresses()
        var (entries, bytes): ([Entry], Int) = ([], 0)
        try database.statement(
            "SELECT id, kind, account, message, conversation FROM notification WHERE done = 0 ORDER BY id LIMIT ?"
        ).prefix([.integer(Int64(limit))]) { row in
            guard let message = try Message.load(row.integer("message"), from: database) else { return true }
            let isShown = try StoredSettings(database: database, account: row.integer("account"))
                .showsText(of: row.text("conversation"))
            let file = try message.withFile(in: database).fileText()
            let notification = Notification(
                kind: Notification.Kind(rawValue: row.text("kind")) ?? .show, identifier: "\(message.id)",
                account: addresses[row.integer("account")] ?? "",
                conversation: isShown ? row.text("conversation") : "", peer: row.text("conversation"),
                sender: isShown ? message.from : "",
                body: isShown ? file?.description ?? message.body ?? "" : "", at: message.sentAt)
            entries.append(
                Entry(
                    id: row.integer("id"), account: row.integer("account"), message: message.id,
                    notification: notification))
            bytes += notification.body.utf8.count
            return bytes < Self.batchSize
        }
        return entries
    }

    /// The number of pending notifications of an account.
    package func pendingCount(of account: Int64) throws -> Int {
        let count = try database.prepare(
            "SELECT count(*) FROM notification INDEXED BY notification_pending WHERE account = ? AND done = 0"
        ).first([.integer(account)]) { $0.integer() }
        return Int(count ?? 0)
    }

    /// Records that `entries`, the oldest, are about to be shown. Call this in a transaction, and show the notifications after its
    /// commit. From then on the user may have seen them, even if this process dies before the entries are marked as done: if their
    /// messages are read on another device, they are withdrawn.
    package func begin(_ entries: [Entry]) throws {
        guard let last = entries.last else { return }
        try database.run(
            "UPDATE notification SET begun = 1 WHERE done = 0 AND begun = 0 AND id <= ?", [.integer(last.id)])
    }

    /// Marks `entries` as shown; to be called in a transaction.
    package func done(_ entries: [Entry]) throws {
        for entry in entries {
            // An entry whose kind has changed in the meantime remains pending with the new kind.
            let values: [Value] = [.integer(entry.id), .state(entry.notification.kind)]
            switch entry.notification.kind {
            case .withdraw: try database.run("DELETE FROM notification WHERE id = ? AND kind = ?", values)
            case .show:
                try database.run("UPDATE notification SET done = 1 WHERE id = ? AND kind = ?", values)
                if database.changes == 0 { try withdraw(entry) }
            }
            try storeHandle(of: entry)
        }
        try database.run(
            "DELETE FROM notification WHERE done = 1 AND id <= (SELECT max(id) FROM notification) - ?",
            [.integer(Self.remembered)])
    }

    /// Stores the handle of the conversation's notification; removes it with the last notification of the conversation.
    private func storeHandle(of entry: Entry) throws {
        let key: [Value] = [.integer(entry.account), .text(entry.notification.peer)]
        if let handle = entry.handle {
            // The account may have been removed in the meantime.
            try database.run(
                """
                INSERT OR REPLACE INTO notification_handle(account, conversation, handle)
                SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM notification WHERE account = ?1 AND conversation = ?2)
                """, key + [.text(handle)])
        }
        guard entry.notification.kind == .withdraw else { return }
        try database.run(
            """
            DELETE FROM notification_handle WHERE account = ?1 AND conversation = ?2
            AND NOT EXISTS (SELECT 1 FROM notification WHERE account = ?1 AND conversation = ?2)
            """, key)
    }

    /// The newest message of `conversation` whose notification is shown, or about to be shown, and how many there are.
    package func shown(of account: Int64, in conversation: String) throws -> (newest: Int64, count: Int)? {
        let rows = try database.statement(
            """
            SELECT message FROM notification WHERE account = ? AND conversation = ? AND kind = ? AND (begun OR done)
            ORDER BY id
            """
        ).all([.integer(account), .text(conversation), .state(Notification.Kind.show)]) { $0.integer("message") }
        return rows.last.map { ($0, rows.count) }
    }

    /// The handle of the shown notification of `conversation` (``Notifications/shown(_:handle:)``).
    package func handle(of account: Int64, in conversation: String) throws -> String? {
        try database.statement("SELECT handle FROM notification_handle WHERE account = ? AND conversation = ?")
            .first([.integer(account), .text(conversation)]) { $0.text("handle") }
    }

    /// The handles of the shown notifications, one a conversation.
    package func handles(of account: Int64) throws -> [(peer: String, handle: String)] {
        try database.statement("SELECT conversation, handle FROM notification_handle WHERE account = ?")
            .all([.integer(account)]) { ($0.text("conversation"), $0.text("handle")) }
    }

    /// Enqueues the withdrawal of a notification whose row was deleted while it was being shown: the message was read on another
    /// device.
    private func withdraw(_ entry: Entry) throws {
        // The account may have been removed in the meantime, and the message with it.
        guard try Message.load(entry.message, from: database) != nil else { return }
        try database.run(
            """
            INSERT INTO notification(account, message, conversation, kind)
            SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM notification WHERE message = ?2)
            """,
            [
                .integer(entry.account), .integer(entry.message), .text(entry.notification.peer),
                .state(Notification.Kind.withdraw),
            ])
    }
}

/// Writes notifications in a step.
struct NotificationWriter {
    package let step: Step
    private var account: Value { .integer(step.account.id) }
    private var messages: MessageReader { MessageReader(database: step.database, account: step.account.id) }

    /// Enqueues a notification for the message in `row`, which is shown from now on. Archived messages from before the account was
    /// added cause none.
    package func shown(_ received: IncomingMessage, row: Int64) throws {
        guard step.notifies, received.direction == .incoming,
            received.encryption?.problem != .beforeDevice,
            try isConversation(received), try !step.isHistory(received),
            try !Blocklist(step: step).isBlocked(received.sender),
            try step.settings(for: received.conversation).notifies(isMeant: isMeant(received))
        else { return }
        try step.database.run(
            """
            INSERT INTO notification(account, message, conversation, kind)
            VALUES (?, ?, ?, ?)
            """, [account, .integer(row), .text(received.conversation), .state(Notification.Kind.show)])
        step.notified()
    }

    /// Whether the message is addressed to the account, in person or in a room of the account.
    private func isConversation(_ received: IncomingMessage) throws -> Bool {
        switch received.type {
        case "chat", "normal": return true
        case "groupchat": return try room(of: received) != nil && isRelevant(received)
        default: return false
        }
    }

    private func room(of received: IncomingMessage) throws -> RoomRow? {
        try RoomRows(database: step.database, account: step.account.id).room(received.sender)
    }

    /// Whether a message in a room is relevant to the user. In a group every message is. In a channel, without a setting of the user,
    /// a message is if it mentions the user.
    private func isRelevant(_ received: IncomingMessage) throws -> Bool {
        guard let room = try room(of: received), !room.info.isGroup else { return true }
        let choice = try StoredSettings(database: step.database, account: step.account.id)
            .choice(for: received.conversation)
        return try choice != nil || isMeant(received)
    }

    /// Whether a message is addressed to the user: in a room, if it mentions the user by an element or by the nickname.
    private func isMeant(_ received: IncomingMessage) throws -> Bool {
        guard received.type == "groupchat", let room = try room(of: received) else { return true }
        return room.mentions(step.account.jid, by: received.element)
            || Mention.names(room.held ?? room.nick, in: received.body ?? "")
    }

    /// The conversations with notifications that are shown, or pending.
    func conversations() throws -> [String] {
        try step.database.statement("SELECT DISTINCT conversation FROM notification WHERE account = ? AND kind = ?")
            .all([account, .state(Notification.Kind.show)]) { $0.text("conversation") }
    }

    /// Withdraws the notifications of `conversation` up to `last`: the user has displayed the messages, on any device.
    func withdraw(through last: MessageReader.Place, in conversation: String) throws {
        let shown = try step.database.statement(
            """
            SELECT id, message, begun OR done AS seen FROM notification
            WHERE account = ? AND conversation = ? AND kind = ?
            """
        ).all([account, .text(conversation), .state(Notification.Kind.show)]) {
            ($0.integer("id"), $0.integer("message"), $0.bool("seen"))
        }
        guard !shown.isEmpty else { return }
        var order = ArchiveOrder(database: step.database, account: step.account.id)
        let end = try order.rank(of: last)
        for (id, message, mayBeSeen) in shown {
            guard let place = try messages.place(of: message), try order.rank(of: place) <= end else { continue }
            try withdraw(id, mayBeSeen: mayBeSeen)
        }
        step.notified()
    }

    /// Withdraws the notification of the message in `row`, whose text was removed.
    func withdraw(_ row: Int64) throws {
        let shown = try step.database.statement(
            "SELECT id, begun OR done AS seen FROM notification WHERE message = ? AND kind = ?"
        ).all([.integer(row), .state(Notification.Kind.show)]) { ($0.integer("id"), $0.bool("seen")) }
        for (id, mayBeSeen) in shown { try withdraw(id, mayBeSeen: mayBeSeen) }
        if !shown.isEmpty { step.notified() }
    }

    private func withdraw(_ id: Int64, mayBeSeen: Bool) throws {
        guard mayBeSeen else { return try step.database.run("DELETE FROM notification WHERE id = ?", [.integer(id)]) }
        try step.database.run(
            "UPDATE notification SET kind = ?, done = 0 WHERE id = ?",
            [.state(Notification.Kind.withdraw), .integer(id)])
    }
}
