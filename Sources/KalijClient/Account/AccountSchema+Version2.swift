import KalijStore

extension Schema {
    /// What version 2 adds, a piece for each feature.
    static let version2 = [stanzaLimits, archivePreferences, subscribers, events].joined(separator: "\n")

    /// What the server takes, and which stanzas it perhaps does not.
    private static let stanzaLimits = """
        ALTER TABLE session ADD COLUMN largest_stanza INTEGER; -- bytes that the server takes (XEP-0478); NULL: not said
        ALTER TABLE queue ADD COLUMN blamed INTEGER NOT NULL DEFAULT 0; -- sessions that the server ended while it was unacknowledged
        """

    /// What the server archives of the conversations whose messages wait for the archive (XEP-0441).
    private static let archivePreferences = """
        CREATE TABLE archive_preference(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            conversation TEXT NOT NULL,
            keeps INTEGER NOT NULL,
            PRIMARY KEY (account, conversation)) WITHOUT ROWID;
        """

    /// Who may know whether the account is online.
    private static let subscribers = """
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
        """
}
