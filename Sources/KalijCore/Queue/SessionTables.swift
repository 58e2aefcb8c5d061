import KalijStore

/// Sessions, and their unacknowledged stanzas.
package enum SessionTables {
    package static let migrations = [
        Migration(
            "session/1", version: 1,
            """
            -- The XEP-0198 session of each account; it outlives connections and processes.
            CREATE TABLE session(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                number INTEGER NOT NULL,        -- grows with each bind
                carbons INTEGER NOT NULL DEFAULT 0, -- whether the server copies what other clients of the account see
                resume_id TEXT,                 -- NULL: nothing to resume
                jid TEXT,                       -- the full address that the server bound
                handled INTEGER NOT NULL,       -- inbound stanzas handled, modulo 2^32
                acknowledged INTEGER NOT NULL,  -- outbound stanzas acknowledged by the server, modulo 2^32
                position INTEGER NOT NULL,      -- the last order number given to a message
                holding INTEGER NOT NULL DEFAULT 0, -- whether queued messages wait until the archive has been read
                archive INTEGER NOT NULL,       -- whether the server archives this account's messages (XEP-0313)
                online_at INTEGER,
                stamps INTEGER NOT NULL DEFAULT 0); -- whether stanza-ids by the account are trusted (XEP-0359)

            -- What was handed to the session and not acknowledged yet: the outbox for stanzas, in order.
            CREATE TABLE queue(
                -- Never given twice: a connection knows what it has written by the last id.
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                message INTEGER REFERENCES message(id),
                request TEXT,                   -- the id of the request that it asks
                stanza BLOB NOT NULL,
                lasting INTEGER NOT NULL DEFAULT 0); -- 1: sent again in a new session though it is no message of the user's
            CREATE INDEX queue_order ON queue(account, id);

            -- How often handling the stanza that would be number `count` of a session was begun.
            CREATE TABLE attempt(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                session INTEGER NOT NULL,
                count INTEGER NOT NULL,
                attempts INTEGER NOT NULL);
            """),
        Migration(
            "session/2", version: 2,
            """
            ALTER TABLE session ADD COLUMN largest_stanza INTEGER; -- bytes that the server takes (XEP-0478); NULL: not said
            ALTER TABLE queue ADD COLUMN blamed INTEGER NOT NULL DEFAULT 0; -- sessions that the server ended while it was unacknowledged

            -- Requests among what waits to be sent.
            CREATE INDEX queue_request ON queue(account, request) WHERE request IS NOT NULL;
            """),
        Migration(
            "session/3",
            "ALTER TABLE session ADD COLUMN available INTEGER NOT NULL DEFAULT 0; -- whether presence was sent in this session"
        ),
        Migration("session/4", "CREATE INDEX queue_message ON queue(message) WHERE message IS NOT NULL;"),
        Migration(
            "session/5",
            "ALTER TABLE session ADD COLUMN offers TEXT NOT NULL DEFAULT ''; -- the server's stream features, a line each"
        ),
        Migration(
            "session/6",
            """
            -- The message to a room in the stanza. The room's archive decides, and not the account's: the stanza is never held back.
            ALTER TABLE queue ADD COLUMN groupchat INTEGER REFERENCES message(id) ON DELETE SET NULL;
            CREATE INDEX queue_groupchat ON queue(groupchat) WHERE groupchat IS NOT NULL;
            """),
        Migration(
            "session/7",
            """
            -- Results of archives that could not be handled. Each connection asks the archive again, so a result comes each time as
            -- another stanza of a session: its failures are counted by its name.
            CREATE TABLE failed_result(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                result TEXT NOT NULL,           -- a hash of the archive and the id
                failures INTEGER NOT NULL,      -- errors, and processes that ended meanwhile
                PRIMARY KEY (account, result));
            """),
        Migration(
            "session/8",
            """
            -- Resumptions since the server has acknowledged anything, and the time of the first of them: a server may resume a session
            -- that it reads no more.
            ALTER TABLE session ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE session ADD COLUMN unread_since INTEGER;
            """),
    ]
}
