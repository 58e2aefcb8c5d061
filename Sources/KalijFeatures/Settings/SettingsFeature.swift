import KalijCore
import KalijStore

/// The user's settings for an account, or for a conversation: what is disclosed to others, and which messages cause notifications.
enum SettingsFeature: Feature {
    static let name = "settings"
    static let migrations = [
        Migration(
            "settings/1",
            """
            -- The user's choices. Without a row: 'on', or 'all'.
            CREATE TABLE setting(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,     -- a bare address; '': all conversations without a choice of their own
                name TEXT NOT NULL,             -- 'receipts', 'markers', 'typing': 'on', 'off'; 'notify': 'all', 'mentions', 'none';
                value TEXT NOT NULL,            -- 'muted': until when, in milliseconds since 1970
                PRIMARY KEY (account, conversation, name)) WITHOUT ROWID;
            """)
    ]
    static var intents: [any Intent.Type] { [ChangeSettings.self] }
    static var events: [any EventContent.Type] { [SettingsChanged.self] }
}
