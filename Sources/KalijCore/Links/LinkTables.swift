import KalijStore

/// The tables of the links to the servers, and of what shortens a login by round trips.
package enum LinkTables {
    package static let migrations = [
        Migration(
            "link/1",
            """
            -- Addresses of an account's server: what the server has offered there and what has worked, and the link as measured.
            CREATE TABLE endpoint(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                host TEXT NOT NULL,             -- the looked-up name
                port INTEGER NOT NULL,
                direct_tls INTEGER NOT NULL,
                address TEXT NOT NULL,          -- the address reached last, in numbers
                used_at INTEGER NOT NULL,       -- when a session was there last, in milliseconds since 1970
                found_at INTEGER,               -- when the DNS told the address last; NULL: never, or the address was learned anew
                server BLOB,                    -- KnownServer (CBOR); NULL: nothing
                round_trip INTEGER,             -- smoothed, in milliseconds
                variation INTEGER,              -- of the round trip, in milliseconds
                rate INTEGER,                   -- arriving bytes a second
                login_sent INTEGER,             -- bytes of the last login, TLS included
                login_received INTEGER,
                login_time INTEGER,             -- from the beginning of the connection to the session, in milliseconds
                PRIMARY KEY (account, host, port, direct_tls)) WITHOUT ROWID;

            -- Tokens of XEP-0484, at most two: the one that has worked, and a newer one that has not yet.
            CREATE TABLE login_token(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                number INTEGER NOT NULL,        -- grows with each token
                mechanism TEXT NOT NULL,
                token TEXT NOT NULL,
                expiry INTEGER,                 -- milliseconds since 1970; NULL: not said
                count INTEGER NOT NULL,         -- logins begun with the token
                PRIMARY KEY (account, number)) WITHOUT ROWID;

            -- The last TLS session ticket of each account's server (RFC 8446, 4.6.1).
            CREATE TABLE tls_ticket(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                ticket BLOB,                    -- NULL: used
                taken INTEGER NOT NULL DEFAULT 0, -- whether the server has taken the ticket offered last
                tried_at INTEGER);              -- when a ticket was refused last, in milliseconds since 1970
            """)
    ]
}
