import KalijStore

extension Schema {
    /// What version 2 adds, a piece for each feature.
    static let version2 = [
        stanzaLimits, archivePreferences, subscribers, events, growth, quarantine, SteadyTime.schema, ServerTime.schema,
    ].joined(separator: "\n")

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
        -- Stored messages that the archive has shown again in this session. Noted while messages of ours wait for the archive.
        CREATE TABLE archive_shown(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            own INTEGER NOT NULL,           -- whether it was accepted here
            message INTEGER NOT NULL,
            PRIMARY KEY (account, own, message)) WITHOUT ROWID;
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

    /// So that nothing takes longer because much is stored.
    private static let growth = """
        -- How many messages the account has.
        ALTER TABLE session ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
        UPDATE session SET messages = (SELECT count(*) FROM message WHERE account = session.account);

        -- What differs comes first: a look compares one column, and not three that are the same everywhere.
        DROP INDEX message_archived;
        CREATE UNIQUE INDEX message_archived ON message(stanza_id, account, archive, sender, message_id)
            WHERE stanza_id IS NOT NULL;
        -- What was not brought to a good end.
        DROP INDEX message_pending;
        CREATE INDEX message_unfinished ON message(account, state, settled) WHERE state IN ('queued', 'sent', 'failed');
        -- Who was written to.
        CREATE INDEX message_written ON message(account, conversation) WHERE direction = 'out';
        -- Requests among what waits to be sent.
        CREATE INDEX queue_request ON queue(account, request) WHERE request IS NOT NULL;
        """

    /// Knows what an archive has shown before, and whose share it is.
    private static let quarantine = """
        ALTER TABLE quarantine ADD COLUMN archive TEXT;     -- whose archive has shown it; NULL: none
        ALTER TABLE quarantine ADD COLUMN archive_id TEXT;  -- the id that it has there
        ALTER TABLE quarantine ADD COLUMN author TEXT NOT NULL DEFAULT ''; -- the bare address of who wrote it
        CREATE UNIQUE INDEX quarantine_archived ON quarantine(account, archive, archive_id, author)
            WHERE archive_id IS NOT NULL;
        CREATE INDEX quarantine_size ON quarantine(account, size);
        CREATE INDEX quarantine_author ON quarantine(account, author);
        """
}
