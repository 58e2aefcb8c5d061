import KalijCore
import KalijStore

/// The user's notifications.
enum NotificationsFeature: Feature, StoredMessageObserver, ServiceProvider {
    package static let name = "notifications"

    package static let migrations: [Migration] = [
        Migration(
            "notifications/1", version: 1,
            """
            -- What the user is to be notified of, and what was shown and can be withdrawn.
            CREATE TABLE notification(
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                kind TEXT NOT NULL,             -- 'show', 'withdraw'
                -- Whether it was going to be shown: the user may have seen it, though it is not done.
                begun INTEGER NOT NULL DEFAULT 0,
                done INTEGER NOT NULL DEFAULT 0); -- whether the user was told
            CREATE INDEX notification_pending ON notification(id) WHERE done = 0;
            CREATE INDEX notification_message ON notification(message);
            CREATE INDEX notification_conversation ON notification(account, conversation);
            """),
        Migration(
            "notifications/2",
            """
            -- What the desktop returned for the shown notification of a conversation: replaces or withdraws it after a restart.
            CREATE TABLE notification_handle(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                handle TEXT NOT NULL,
                PRIMARY KEY(account, conversation)) WITHOUT ROWID
            """),
    ]

    package static func didShow(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        try NotificationWriter(step: step).shown(incoming, row: message.id)
    }

    /// Withdraws the notification of a message that was retracted, or of a correction whose original was found.
    static func didChangeBody(of row: Int64, from old: String?, to text: String?, in step: Step) throws {
        if text == nil { try NotificationWriter(step: step).withdraw(row) }
    }

    static func directoryService(for host: any ServiceHost) -> (any FeatureService)? {
        host.resources[NotificationOutput.self].map { NotificationService(host, $0) }
    }
}

extension Step {
    /// Notes that there is a new notification.
    func notified() { signal(NotificationsFeature.self) }
}
