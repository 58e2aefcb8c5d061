import KalijRoles
import KalijStore

extension Schema {
    /// The tables of a directory's database. Times are milliseconds since 1970, addresses canonical text.
    static let accounts = Schema(applicationID: 0x4B61_6C69, migrations: [version1, version2])

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
            state TEXT NOT NULL DEFAULT 'active', -- 'leaving', 'removing': not yet done; 'out': logged out
            history_days INTEGER NOT NULL DEFAULT 14); -- how far the first reading of the archive looks back

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
        CREATE INDEX message_unstamped ON message(account, sender, origin_id)
            WHERE stanza_id IS NULL AND direction = 'out' AND received_at IS NOT NULL;
        CREATE INDEX message_pending ON message(account, id) WHERE state IN ('queued', 'sent');

        -- Handlers that wait for the answer to a request.
        CREATE TABLE request(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            id TEXT NOT NULL,               -- the stanza's id, random
            responder TEXT NOT NULL,        -- who was asked; '' is the account itself
            asked_at INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            sent INTEGER NOT NULL DEFAULT 0, -- when its bytes last left, so that an answer may be on the way; 0: not yet
            name TEXT NOT NULL,             -- the handler's
            handler BLOB NOT NULL,
            crashes INTEGER NOT NULL DEFAULT 0, -- processes that ended while they called it
            PRIMARY KEY (account, id)) WITHOUT ROWID;
        CREATE INDEX request_deadline ON request(account, deadline);
        CREATE INDEX request_name ON request(account, name);

        -- Handlers that are called at a time.
        CREATE TABLE timer(
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not cancel another
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            name TEXT NOT NULL,
            handler BLOB NOT NULL,
            crashes INTEGER NOT NULL DEFAULT 0);
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
            handler BLOB NOT NULL,
            crashes INTEGER NOT NULL DEFAULT 0);
        CREATE INDEX waiter_promise ON waiter(account, promise);

        -- Handlers that could not be called.
        CREATE TABLE dead_letter(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            origin TEXT NOT NULL,           -- what it waited for: 'request', 'timer', 'promise'; 'share': what was left
            name TEXT NOT NULL,             -- '' if not even that can be read
            reason TEXT NOT NULL,
            handler BLOB NOT NULL);

        -- What was asked on the command line, and what became of it.
        CREATE TABLE question(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            request TEXT NOT NULL,          -- the stanza's id
            recipient TEXT NOT NULL,
            asked_at INTEGER NOT NULL,
            answered_at INTEGER,
            outcome TEXT,                   -- 'result', 'error', 'timeout', 'invalidated'
            reason TEXT,
            answer BLOB,
            round_trip INTEGER);            -- milliseconds from when the request last left until the answer came

        -- What was read of each archive (XEP-0313), as far as it hangs together. Between two ranges, and before the first,
        -- is a gap, unless `bottom` says otherwise; behind the last one is the tail.
        CREATE TABLE archive_range(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            archive TEXT NOT NULL,          -- '' is the account's own, else a room's bare address
            first_id TEXT NOT NULL,         -- the archive's id of its first message
            first_position INTEGER NOT NULL,
            first_at INTEGER,               -- the archive's stamp of it
            before_id TEXT NOT NULL,        -- where reading what is before begins: its first message or the next one
            last_id TEXT NOT NULL,
            last_position INTEGER NOT NULL,
            last_at INTEGER,
            again_id TEXT NOT NULL,         -- where reading on begins: a few messages before its last
            bottom INTEGER NOT NULL);       -- 1: the archive has nothing between it and the range before
        CREATE INDEX archive_range_order ON archive_range(account, archive, last_position);

        -- The reading of the end of each archive.
        CREATE TABLE catchup(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            archive TEXT NOT NULL,
            number INTEGER NOT NULL,        -- grows with each round
            phase TEXT NOT NULL,            -- 'before-presence', 'after-presence', 'done'
            trusted INTEGER NOT NULL DEFAULT 0, -- of a room: whether the stanza-ids that it stamps are trusted
            since INTEGER NOT NULL,         -- where to begin if nothing was read yet; 0: the archive had nothing before
            probed INTEGER NOT NULL DEFAULT 0, -- whether it was found out if there is something before
            range INTEGER,                  -- the range that is extended; NULL: a new one
            bottom INTEGER NOT NULL DEFAULT 0, -- of the new one
            query_id TEXT, request TEXT,    -- the open page
            cursor TEXT,                    -- it begins behind this message,
            start INTEGER,                  -- or at this time
            reached TEXT,                   -- the last message of the page before
            placed INTEGER NOT NULL DEFAULT 0, -- the order number of the last message shown
            changed_behind INTEGER,         -- the order number behind which something was found that was not there
            seen INTEGER NOT NULL DEFAULT 0, -- how many messages the round has shown,
            shown INTEGER NOT NULL DEFAULT 0, -- and the page
            first_id TEXT, first_position INTEGER, first_at INTEGER, -- the first one of the round
            last_id TEXT, last_at INTEGER,  -- the last one shown
            previous_id TEXT,               -- the one before it that has another id
            again_id TEXT, again_next TEXT, -- two in the distance in which reading begins again
            again_at INTEGER,               -- the archive's stamp of the second,
            again_seen INTEGER NOT NULL DEFAULT 0, -- and how many messages the round had shown by then
            problem TEXT,
            PRIMARY KEY (account, archive)) WITHOUT ROWID;

        -- Older history that was asked for; it is read backwards.
        CREATE TABLE filling(
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            archive TEXT NOT NULL,
            gaps INTEGER NOT NULL,          -- whether gaps between ranges are to be filled
            wanted INTEGER NOT NULL,        -- how many messages are wanted from before the first range
            stored INTEGER NOT NULL DEFAULT 0, -- how many it has brought
            range INTEGER,                  -- the range whose begin is moved back; NULL: a new one
            query_id TEXT, request TEXT,    -- the open page
            cursor TEXT,                    -- it ends before this message,
            stop INTEGER,                   -- or at this time
            base INTEGER NOT NULL DEFAULT 0, -- the order number of its first message
            shown INTEGER NOT NULL DEFAULT 0, -- how many messages it has shown
            placed INTEGER NOT NULL DEFAULT 0, -- and how many of them were in no range
            first_id TEXT, first_at INTEGER, second_id TEXT, last_id TEXT, last_at INTEGER,
            met INTEGER,                    -- the older range that it has met
            outcome TEXT,                   -- NULL: it goes on; '': done; else why it ended
            PRIMARY KEY (account, archive)) WITHOUT ROWID;

        -- Stanzas that were not processed: over a limit, or failed too often.
        CREATE TABLE quarantine(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            at INTEGER NOT NULL,
            reason TEXT NOT NULL,
            name TEXT NOT NULL,
            sender TEXT,
            size INTEGER NOT NULL,          -- bytes on the wire
            stanza BLOB NOT NULL,           -- its first 64 KiB
            position INTEGER,               -- the order number kept for it
            retry TEXT);                    -- 'wanted', 'begun'; NULL: not to be tried again
        CREATE INDEX quarantine_retry ON quarantine(account, id) WHERE retry = 'wanted';

        -- How often handling the stanza that would be number `count` of a session was begun.
        CREATE TABLE attempt(
            account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
            session INTEGER NOT NULL,
            count INTEGER NOT NULL,
            attempts INTEGER NOT NULL);

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

        -- What entities with the same hash say of themselves (XEP-0115, XEP-0390), verified; for all accounts.
        CREATE TABLE capability(
            id INTEGER PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE,      -- with its kind and algorithm
            info BLOB NOT NULL,             -- the <query/>
            used_at INTEGER NOT NULL);      -- to the day
        CREATE INDEX capability_use ON capability(used_at);

        -- Who said what of itself in the present session: those whose presence tells a hash, and those who were asked.
        CREATE TABLE entity(
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            jid TEXT NOT NULL,
            hash TEXT NOT NULL,             -- '' if there is none
            node TEXT NOT NULL,             -- what to ask it about
            state INTEGER NOT NULL,         -- 0: to be asked; 1: asked; 2: known by its hash; 3: spoke for itself; 4: given up
            asked_at INTEGER NOT NULL DEFAULT 0,
            info BLOB);                     -- what it said of itself, where no hash verifies it
        CREATE UNIQUE INDEX entity_jid ON entity(account, jid);
        CREATE INDEX entity_hash ON entity(hash, account);
        CREATE INDEX entity_open ON entity(account, state) WHERE state < 2;
        CREATE INDEX entity_own_word ON entity(account, id) WHERE info IS NOT NULL;

        -- How far what other processes left in the mailbox was taken over.
        CREATE TABLE shared(id INTEGER PRIMARY KEY CHECK (id = 1), mailbox TEXT NOT NULL, last INTEGER NOT NULL);

        CREATE TABLE slow_step(kind TEXT PRIMARY KEY, count INTEGER NOT NULL, longest INTEGER NOT NULL) WITHOUT ROWID;

        \(Barrier.schema);
        """
}
