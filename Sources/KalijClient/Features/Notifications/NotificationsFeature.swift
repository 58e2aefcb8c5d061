import KalijHandlers
import KalijStore

/// What the user is to be notified of.
enum NotificationsFeature: Feature {
    static let name = "notifications"

    static let migrations: [Migration] = [
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
            """)
    ]

    static var handlers: [any Handler<Step>.Type] {
        [DisplayedTold.self]
    }

    static var announced: [String] { [DisplayedElsewhere.node + "+notify"] }
}
