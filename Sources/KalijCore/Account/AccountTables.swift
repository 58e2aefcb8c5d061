import KalijStore

/// Accounts. Times are milliseconds since 1970, addresses canonical text, here and in all tables.
package enum AccountTables {
    package static let migrations = [
        Migration(
            "account/1", version: 1,
            """
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
            """),
        Migration(
            "account/2",
            """
            -- A password that counts instead if the server has taken a change whose answer is not known.
            ALTER TABLE account ADD COLUMN new_password TEXT;
            -- Whether the server was asked to remove the account.
            ALTER TABLE account ADD COLUMN unregistering INTEGER NOT NULL DEFAULT 0;
            -- Why the server refused the last change of the password or the removal.
            ALTER TABLE account ADD COLUMN problem TEXT;
            """),
        Migration(
            "account/3",
            """
            -- Beside the mechanism: what no later login falls below.
            ALTER TABLE account ADD COLUMN binding TEXT;         -- the kind of channel binding; NULL: none
            ALTER TABLE account ADD COLUMN sasl2 INTEGER NOT NULL DEFAULT 0;
            -- A UUID of this directory's client (XEP-0388 section 2.2); NULL: not needed yet.
            ALTER TABLE account ADD COLUMN user_agent TEXT;
            """),
    ]
}
