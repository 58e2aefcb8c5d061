import KalijStore

/// Stanzas that are quarantined unprocessed.
package enum QuarantineFeature: Feature {
    package static let name = "quarantine"

    package static let migrations: [Migration] = [
        Migration(
            "quarantine/1", version: 1,
            """
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
            """),
        Migration(
            "quarantine/2", version: 2,
            """
            ALTER TABLE quarantine ADD COLUMN archive TEXT;     -- whose archive has shown it; NULL: none
            ALTER TABLE quarantine ADD COLUMN archive_id TEXT;  -- the id that it has there
            ALTER TABLE quarantine ADD COLUMN author TEXT NOT NULL DEFAULT ''; -- the bare address of who wrote it
            CREATE UNIQUE INDEX quarantine_archived ON quarantine(account, archive, archive_id, author)
                WHERE archive_id IS NOT NULL;
            CREATE INDEX quarantine_size ON quarantine(account, size);
            CREATE INDEX quarantine_author ON quarantine(account, author);
            """),
    ]

    package static var events: [any EventContent.Type] { [Quarantined.self] }
}
