import KalijRoles
import KalijStore

extension Schema {
    /// The tables of a directory's database. Times are milliseconds since 1970, addresses canonical text.
    static let accounts = Schema(applicationID: 0x4B61_6C69, migrations: [version1])

    private static let version1 = """
        CREATE TABLE account(
            id INTEGER PRIMARY KEY,
            jid TEXT NOT NULL UNIQUE,
            resource TEXT NOT NULL,
            server TEXT,                    -- HOST:PORT given by the user instead of SRV records
            direct_tls INTEGER NOT NULL,
            ca_file TEXT,
            mechanism TEXT NOT NULL,        -- SASL mechanism of the login; nothing weaker is accepted later
            keys BLOB,                      -- SCRAM keys (CBOR), or
            password TEXT,                  -- the password, where the mechanism needs it
            created_at INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'active'); -- 'leaving', 'removing': not yet done; 'out': logged out

        -- The XEP-0198 session of each account; it outlives connections and processes.
        CREATE TABLE session(
            account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
            number INTEGER NOT NULL,        -- grows with each bind
            resume_id TEXT,                 -- NULL: nothing to resume
            jid TEXT,                       -- the full address that the server bound
            handled INTEGER NOT NULL,       -- inbound stanzas handled, modulo 2^32
            acknowledged INTEGER NOT NULL,  -- outbound stanzas acknowledged by the server, modulo 2^32
            position INTEGER NOT NULL,      -- the last order number given to a message
            holding INTEGER NOT NULL DEFAULT 0, -- whether queued messages wait until the archive has been read
            archive INTEGER NOT NULL,       -- whether the server's archive (XEP-0313) stamps this account's messages
            online_at INTEGER);

        -- What was handed to the session and not acknowledged yet: the outbox for stanzas, in order.
        CREATE TABLE queue(
            -- Never given twice: a connection knows what it has written by the last id.
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            message INTEGER REFERENCES message(id),
            request TEXT,                   -- the id of the request that it asks
            stanza BLOB NOT NULL);
        CREATE INDEX queue_order ON queue(account, id);

        CREATE TABLE message(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            direction TEXT NOT NULL,        -- 'in' or 'out'
            conversation TEXT NOT NULL,     -- the bare address of the other side
            position INTEGER NOT NULL,      -- the order in which messages are shown
            archive TEXT NOT NULL,          -- whose archive stanza_id belongs to; '' is the account's own
            stanza_id TEXT,
            message_id TEXT NOT NULL,       -- the stanza's id, '' if it had none
            origin_id TEXT,
            sender TEXT NOT NULL,
            recipient TEXT NOT NULL,
            type TEXT NOT NULL,
            body TEXT,
            sent_at INTEGER NOT NULL,
            received_at INTEGER,
            state TEXT,                     -- of 'out': 'queued', 'sent', 'acked', 'failed'
            error TEXT,
            anchor TEXT,                    -- newest known archive id when the bytes first left
            settled INTEGER NOT NULL DEFAULT 1,  -- 0: sent in a session that was lost, outcome unknown
            catchup INTEGER NOT NULL DEFAULT 0); -- the catch-up that last confirmed its place
        CREATE INDEX message_order ON message(account, conversation, position);
        CREATE UNIQUE INDEX message_archived ON message(account, archive, stanza_id, sender, message_id)
            WHERE stanza_id IS NOT NULL;
        CREATE UNIQUE INDEX message_unarchived ON message(account, sender, origin_id)
            WHERE stanza_id IS NULL AND origin_id IS NOT NULL AND direction = 'in';
        -- Only what was accepted here: other devices choose ids of their own, and may use one twice.
        CREATE UNIQUE INDEX message_own ON message(account, origin_id)
            WHERE direction = 'out' AND origin_id IS NOT NULL AND received_at IS NULL;
        CREATE INDEX message_pending ON message(account, id) WHERE state IN ('queued', 'sent');

        -- Handlers that wait for the answer to a request.
        CREATE TABLE request(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            id TEXT NOT NULL,               -- the stanza's id, random
            responder TEXT NOT NULL,        -- who was asked; '' is the account itself
            asked_at INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            sent INTEGER NOT NULL DEFAULT 0, -- whether its bytes have left, so that an answer may be on the way
            name TEXT NOT NULL,             -- the handler's
            handler BLOB NOT NULL,
            PRIMARY KEY (account, id)) WITHOUT ROWID;
        CREATE INDEX request_deadline ON request(account, deadline);
        CREATE INDEX request_name ON request(account, name);

        -- Handlers that are called at a time.
        CREATE TABLE timer(
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not cancel another
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            name TEXT NOT NULL,
            handler BLOB NOT NULL);
        CREATE INDEX timer_order ON timer(account, at);

        CREATE TABLE promise(
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not get another's value
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            until INTEGER NOT NULL,         -- when it is rejected, or, once it is settled, forgotten
            result BLOB);                   -- NULL: not settled
        CREATE INDEX promise_pending ON promise(account, until) WHERE result IS NULL;
        CREATE INDEX promise_settled ON promise(account, until) WHERE result IS NOT NULL;

        -- Handlers that wait for a promise.
        CREATE TABLE waiter(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            promise INTEGER NOT NULL,
            next INTEGER,                   -- the promise that the handler is to settle
            name TEXT NOT NULL,
            handler BLOB NOT NULL);
        CREATE INDEX waiter_promise ON waiter(account, promise);

        -- Handlers that could not be called.
        CREATE TABLE dead_letter(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            origin TEXT NOT NULL,           -- what it waited for: 'request', 'timer', 'promise'
            name TEXT NOT NULL,             -- '' if not even that can be read
            reason TEXT NOT NULL,
            handler BLOB NOT NULL);

        -- What `kalij iq` has asked, and what became of it.
        CREATE TABLE question(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            request TEXT NOT NULL,          -- the stanza's id
            recipient TEXT NOT NULL,
            asked_at INTEGER NOT NULL,
            answered_at INTEGER,
            outcome TEXT,                   -- 'result', 'error', 'timeout', 'invalidated'
            reason TEXT,
            answer BLOB);

        -- The reading of the archive after a bind.
        CREATE TABLE catchup(
            account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
            number INTEGER NOT NULL,        -- grows with each
            phase TEXT NOT NULL,            -- 'before-presence', 'after-presence', 'done'
            query_id TEXT,
            cursor TEXT,                    -- the archive id up to which it was read
            since INTEGER,                  -- where to begin without a cursor, or if the archive has lost it
            placed INTEGER NOT NULL DEFAULT 0, -- the order number of the last message shown
            changed_behind INTEGER,         -- the order number behind which something was found that was not there
            problem TEXT);

        -- Stanzas that were not processed: over a limit, or failed too often.
        CREATE TABLE quarantine(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            reason TEXT NOT NULL,
            name TEXT NOT NULL,
            sender TEXT,
            size INTEGER NOT NULL,          -- bytes on the wire
            stanza BLOB NOT NULL);          -- its first 64 KiB

        -- How often handling the stanza that would be number `count` of a session was begun.
        CREATE TABLE attempt(
            account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
            session INTEGER NOT NULL,
            count INTEGER NOT NULL,
            attempts INTEGER NOT NULL);

        CREATE TABLE slow_step(kind TEXT PRIMARY KEY, count INTEGER NOT NULL, longest INTEGER NOT NULL) WITHOUT ROWID;

        \(Barrier.schema);
        """
}
