import KalijAddress
import KalijCore
import KalijStore
import KalijXML

/// The messages of a room that cause notifications, as chosen on any device of the account (XEP-0492). The choice is kept in the
/// room's bookmark. XEP-0492 names no place for a chat with a contact: its choice stays in the directory.
enum NotificationSettingsFeature: Feature, BookmarkExtender, TransactionObserver {
    static let name = "notification-settings"
    static let migrations = [
        Migration(
            "notification-settings/1",
            """
            -- The choices that a bookmark has, or is to have.
            CREATE TABLE notification_setting(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,     -- a bare address
                state TEXT NOT NULL,            -- 'settled'; 'changed': here, to be written; 'sent': perhaps written; 'acknowledged'
                listed TEXT,                    -- as last read: 'always', 'on-mention', 'never'; NULL: none
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            """)
    ]

    /// The intent `settings` may contain a choice. The same choice again counts: another device may have made another one, which was
    /// not read yet.
    static func willEnd(_ step: Step) throws {
        // Most are of other types, which costs less to see than a cast.
        for event in step.effects.events where type(of: event.content) == SettingsChanged.self {
            guard let change = event.content as? SettingsChanged, change.hasChoice,
                let conversation = change.conversation, JID.received(conversation).isBare
            else { continue }
            try SharedChoices(step: step).chose(conversation)
        }
    }

    static func didReadBookmark(of room: JID, extensions: [Element]?, in step: Step) throws -> Bool {
        try SharedChoices(step: step).read(room, extensions)
    }

    static func extendBookmark(of room: JID, extensions: inout [Element], in step: Step) throws {
        try SharedChoices(step: step).write(room, &extensions)
    }

    static func didWriteBookmark(of room: JID, in step: Step) throws {
        try SharedChoices(step: step).acknowledged(room)
    }
}
