import KalijSteps
import KalijStore

/// Takes over messages that other processes leave in the mailbox.
enum SharingFeature: Feature {
    package static let name = "sharing"

    package static let migrations: [Migration] = [
        Migration(
            "sharing/1", version: 1,
            """
            -- How far what other processes left in the mailbox was taken over.
            CREATE TABLE shared(id INTEGER PRIMARY KEY CHECK (id = 1), mailbox TEXT NOT NULL, last INTEGER NOT NULL);
            """)
    ]
}
