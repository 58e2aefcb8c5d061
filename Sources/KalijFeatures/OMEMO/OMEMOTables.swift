import KalijStore

extension OMEMOFeature {
    static let migrations = [
        Migration(
            "omemo/1",
            """
            -- This device.
            CREATE TABLE omemo_device(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                device INTEGER NOT NULL,
                seed BLOB NOT NULL,             -- of the identity key
                made_at INTEGER NOT NULL,       -- in the server's time
                file TEXT,                      -- what tells the database's file from a copy
                read INTEGER NOT NULL,          -- whether the account's archive was read in this session
                open INTEGER NOT NULL,          -- whether messages may be encrypted
                restored_at INTEGER,            -- when the database was found to be an old one, in the steady time
                restoring INTEGER NOT NULL);    -- whether nothing was encrypted since
            -- What this device has published, in each format.
            CREATE TABLE omemo_own(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                dialect INTEGER NOT NULL,       -- 3: 0.3; 2: 2
                stage TEXT NOT NULL,
                listed INTEGER NOT NULL,        -- whether the server's list has this device
                due INTEGER NOT NULL,           -- whether the bundle has to be published
                attempts INTEGER NOT NULL,
                asked INTEGER NOT NULL,         -- how often the server was asked: the last question counts
                next_id INTEGER NOT NULL,       -- of the next prekey, signed or not: none is given twice
                published_at INTEGER,           -- when the bundle was published last, in the steady time
                timed INTEGER NOT NULL,         -- whether a timer waits
                fights TEXT NOT NULL,           -- when others have removed this device from the list, in the steady time
                others TEXT NOT NULL,           -- the other devices of the list, as the server has told them
                labels TEXT NOT NULL,           -- their names, as a list in 2
                retired TEXT NOT NULL,          -- earlier ids of this device
                foreign_at INTEGER,             -- when a foreign key was found under the id of this device
                problem TEXT,
                PRIMARY KEY (account, dialect)) WITHOUT ROWID;
            -- Accounts that use 2 besides 0.3.
            CREATE TABLE omemo_second(account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE);
            CREATE TABLE omemo_prekey(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                dialect INTEGER NOT NULL,
                id INTEGER NOT NULL,
                key BLOB NOT NULL,
                public BLOB NOT NULL,
                used INTEGER NOT NULL,          -- 0, or when it was used, in the steady time: not in the bundle any more
                PRIMARY KEY (account, dialect, id)) WITHOUT ROWID;
            CREATE TABLE omemo_signed(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                dialect INTEGER NOT NULL,
                id INTEGER NOT NULL,
                key BLOB NOT NULL,
                public BLOB NOT NULL,
                made_at INTEGER NOT NULL,
                replaced_at INTEGER,
                read INTEGER NOT NULL,          -- whether the archive was read since
                PRIMARY KEY (account, dialect, id)) WITHOUT ROWID;

            -- The lists of devices.
            CREATE TABLE omemo_list(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address
                dialect INTEGER NOT NULL,
                session INTEGER NOT NULL,       -- the number of the session in which the list was told
                told_at INTEGER NOT NULL,       -- in the steady time
                watched INTEGER NOT NULL,       -- the number of the last session in which changes are told
                asked INTEGER NOT NULL,         -- whether the list was asked for
                problem TEXT,                   -- why it cannot be had
                stranger INTEGER NOT NULL);     -- whether nobody of the account knows the address
            CREATE UNIQUE INDEX omemo_list_jid ON omemo_list(account, jid, dialect);
            -- Devices of others, and other devices of the account.
            CREATE TABLE omemo_peer(
                id INTEGER PRIMARY KEY,
                list INTEGER NOT NULL REFERENCES omemo_list(id) ON DELETE CASCADE,
                device INTEGER NOT NULL,
                listed INTEGER NOT NULL,        -- whether the list has the device
                identity BLOB,                  -- the Curve25519 form; NULL: not known
                asked INTEGER NOT NULL,         -- whether the bundle was asked for
                bad_until INTEGER,              -- left out until then, in the steady time
                problem TEXT,                   -- why
                read_at INTEGER NOT NULL,       -- the stamp of the newest message that could be read
                fails INTEGER NOT NULL,         -- how many messages in a row could not be read
                heal_at INTEGER);               -- when a new session was begun for the last time, in the steady time
            CREATE UNIQUE INDEX omemo_peer_device ON omemo_peer(list, device);
            CREATE INDEX omemo_peer_id ON omemo_peer(device);
            CREATE INDEX omemo_peer_asked ON omemo_peer(list) WHERE asked = 1;
            CREATE TABLE omemo_session(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                peer INTEGER NOT NULL REFERENCES omemo_peer(id) ON DELETE CASCADE,
                data BLOB NOT NULL,
                place INTEGER NOT NULL,         -- the stamp of the newest message: the newest session sends
                sends INTEGER NOT NULL,         -- whether it may send
                prekey INTEGER,                 -- the prekey of this device with which it was begun; NULL: begun here
                stranger INTEGER NOT NULL);
            CREATE INDEX omemo_session_peer ON omemo_session(peer);
            CREATE INDEX omemo_session_prekey ON omemo_session(account, prekey) WHERE prekey IS NOT NULL;
            CREATE INDEX omemo_session_stranger ON omemo_session(account, id) WHERE stranger = 1;
            -- Keys of messages that have not come.
            CREATE TABLE omemo_kept(
                id INTEGER PRIMARY KEY,
                session INTEGER NOT NULL REFERENCES omemo_session(id) ON DELETE CASCADE,
                list INTEGER NOT NULL,
                ratchet BLOB NOT NULL,
                number INTEGER NOT NULL,
                key BLOB NOT NULL);
            CREATE UNIQUE INDEX omemo_kept_name ON omemo_kept(session, ratchet, number);
            CREATE INDEX omemo_kept_list ON omemo_kept(list, id);
            CREATE INDEX omemo_kept_session ON omemo_kept(session, id);
            CREATE TABLE omemo_trust(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                identity BLOB NOT NULL,
                trust TEXT NOT NULL,            -- 'blind', 'verified', 'undecided', 'distrusted'
                unproven INTEGER NOT NULL,      -- whether only a room has shown that the key is of the address
                first_at INTEGER NOT NULL,
                PRIMARY KEY (account, jid, identity)) WITHOUT ROWID;
            CREATE INDEX omemo_trust_identity ON omemo_trust(account, identity);

            -- Encrypted contents that have come.
            CREATE TABLE omemo_seen(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                digest BLOB NOT NULL,
                message INTEGER REFERENCES message(id) ON DELETE CASCADE); -- NULL: of an empty message
            CREATE UNIQUE INDEX omemo_seen_digest ON omemo_seen(digest, account);
            CREATE INDEX omemo_seen_message ON omemo_seen(message) WHERE message IS NOT NULL;
            -- Stanzas that are read later, in their places.
            CREATE TABLE omemo_aside(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                stanza BLOB NOT NULL,
                source TEXT NOT NULL,
                position INTEGER NOT NULL,
                due INTEGER NOT NULL);          -- 0: once the archive was read; else the steady time
            CREATE INDEX omemo_aside_due ON omemo_aside(account, due, id);

            -- Messages of the user's that are not encrypted yet.
            CREATE TABLE omemo_waiting(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                room INTEGER NOT NULL,          -- whether the room's own outbox has it, too
                plain INTEGER NOT NULL,         -- 1: only waits for its turn
                repeatable INTEGER NOT NULL,
                stanza BLOB NOT NULL,
                since INTEGER NOT NULL);        -- in the steady time
            CREATE INDEX omemo_waiting_order ON omemo_waiting(account, conversation, message);
            -- Conversations whose waiting messages may leave, perhaps.
            CREATE TABLE omemo_turn(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            CREATE TABLE omemo_conversation(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                encrypted INTEGER,              -- NULL: nobody has decided
                blocked INTEGER NOT NULL,       -- whether the other side does not want encryption any more (XEP-0384 section 9)
                looking INTEGER NOT NULL,       -- whether a timer looks again for keys
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            -- Empty messages that are owed.
            CREATE TABLE omemo_owed(
                peer INTEGER PRIMARY KEY REFERENCES omemo_peer(id) ON DELETE CASCADE,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                heals INTEGER NOT NULL);        -- whether a new session is begun
            CREATE INDEX omemo_owed_account ON omemo_owed(account);
            -- Sessions begun by strangers, by their domains.
            CREATE TABLE omemo_stranger(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                domain TEXT NOT NULL,
                since INTEGER NOT NULL,         -- the beginning of the hour, in the steady time
                number INTEGER NOT NULL,
                PRIMARY KEY (account, domain)) WITHOUT ROWID;
            """),
        Migration(
            "omemo/2",
            """
            -- Names of other devices, as their lists have them, with the signatures of the devices.
            CREATE TABLE omemo_label(
                peer INTEGER PRIMARY KEY REFERENCES omemo_peer(id) ON DELETE CASCADE,
                label TEXT NOT NULL,
                signature TEXT NOT NULL);
            -- The name of this device.
            CREATE TABLE omemo_name(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                name TEXT NOT NULL);
            """),
    ]
}
