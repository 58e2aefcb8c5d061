import KalijSteps
import KalijHandlers
import KalijStore
import KalijXML

/// The contacts that may know whether the account is online.
enum ContactsFeature: Feature {
    package static let name = "contacts"

    package static let migrations: [Migration] = [
        Migration(
            "contacts/1", version: 2,
            """
            ALTER TABLE session ADD COLUMN subscribers INTEGER NOT NULL DEFAULT 0; -- whether they are known in this session
            CREATE TABLE subscriber(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                PRIMARY KEY (account, jid)) WITHOUT ROWID;
            -- Questions that wait until they are known.
            CREATE TABLE asker(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                stanza BLOB NOT NULL);
            CREATE INDEX asker_account ON asker(account);
            """)
    ]

    package static var handlers: [any Handler<Step>.Type] {
        [RosterTold.self]
    }

    package static func sessionLost(in step: Step) throws { try Subscribers(step: step).sessionLost() }

    package static func answer(_ request: Element, in step: Step) throws -> RequestAnswer? {
        try Subscribers(step: step).push(request) ? .result(nil) : nil
    }
}
