import KalijStore
import KalijXML

/// Messages: each message is stored exactly once, from any source and however often it is delivered.
package enum MessagesFeature: Feature {
    package static let name = "messages"

    package static let migrations: [Migration] = [
        Migration(
            "messages/1", version: 1,
            """
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
            """),
        Migration(
            "messages/2", version: 2,
            """
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
            """),
        Migration(
            "messages/3",
            """
            ALTER TABLE message ADD COLUMN shown INTEGER NOT NULL DEFAULT 0; -- whether it is a line of the conversation
            ALTER TABLE message ADD COLUMN edited_at INTEGER; -- when the body was corrected last; NULL: it is the original
            ALTER TABLE message ADD COLUMN erased TEXT; -- why the body is gone: 'retracted', 'moderated', 'forgotten'; NULL: it is not
            ALTER TABLE message ADD COLUMN corrects TEXT; -- the id of the unknown message that it corrects
            ALTER TABLE message ADD COLUMN reply_to TEXT; -- the id of the answered message
            ALTER TABLE message ADD COLUMN encryption TEXT; -- the method (XEP-0380) of a message that cannot be read
            ALTER TABLE message ADD COLUMN markable INTEGER NOT NULL DEFAULT 0; -- whether the sender asks for a marker (XEP-0333)
            UPDATE message SET shown = 1 WHERE body IS NOT NULL;

            -- A row is in one of the two. What is not shown does not slow down reading what is.
            DROP INDEX message_order;
            -- Unread messages are counted in the index alone.
            CREATE INDEX message_order ON message(account, conversation, position, direction, erased, shown) WHERE shown = 1;
            CREATE INDEX message_hidden ON message(account, conversation, position) WHERE shown = 0;
            -- Who was written to.
            DROP INDEX message_written;
            CREATE INDEX message_written ON message(account, conversation) WHERE direction = 'out' AND shown = 1;
            -- What other messages name.
            CREATE INDEX message_named ON message(message_id, account);
            CREATE INDEX message_origin ON message(origin_id, account) WHERE origin_id IS NOT NULL AND origin_id <> message_id;
            """),
        Migration(
            "messages/4",
            """
            ALTER TABLE message ADD COLUMN author TEXT; -- in a room: who has said it; NULL: not proven
            """),
        Migration(
            "messages/5",
            """
            -- No id is given twice: applications keep the last one they have seen. Here is the highest one that is gone. To keep
            -- it at each deletion, of which there are few, costs less than AUTOINCREMENT, which writes a page more for each message.
            CREATE TABLE message_gone(only INTEGER PRIMARY KEY CHECK (only = 1), id INTEGER NOT NULL);
            INSERT INTO message_gone VALUES (1, 0);
            CREATE TRIGGER message_goes AFTER DELETE ON message WHEN OLD.id > (SELECT id FROM message_gone)
                BEGIN UPDATE message_gone SET id = OLD.id; END;
            """),
        Migration(
            "messages/6",
            """
            -- An incoming message costs one comparison; IN makes a set of the states for each row that is written.
            DROP INDEX message_unfinished;
            CREATE INDEX message_unfinished ON message(account, state, settled)
                WHERE direction = 'out' AND (state = 'queued' OR state = 'sent' OR state = 'failed');
            """),
        Migration(
            "messages/7",
            "ALTER TABLE message ADD COLUMN bounced INTEGER NOT NULL DEFAULT 0; -- of 'out': whether a sending of it was refused"
        ),
        Migration(
            "messages/8",
            """
            -- From now on `bounced` counts the refused sendings. The archive's copies of such a text, in the order of the archive: as
            -- many as were refused prove nothing about the present sending.
            CREATE TABLE refused_copy(
                id INTEGER PRIMARY KEY,
                message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
                stanza_id TEXT NOT NULL);
            CREATE UNIQUE INDEX refused_copy_message ON refused_copy(message, stanza_id);
            """),
    ]
}
