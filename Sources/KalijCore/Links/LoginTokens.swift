import KalijStore
import KalijStream

/// An account's tokens for a login in one flight (XEP-0484): the token that has worked, and a newer token that has not yet.
package struct LoginTokens {
    private let database: Database
    private let account: Value

    package init(_ database: Database, of account: Int64) {
        (self.database, self.account) = (database, .integer(account))
    }

    /// Whether there is a token.
    package var isAny: Bool {
        get throws {
            try database.prepare("SELECT 1 FROM login_token WHERE account = ?").first([account]) { _ in true }
                ?? false
        }
    }

    /// The tokens for the next login, the newest first, each with the count of that login. The count is to be committed before the
    /// login: neither Prosody 13 nor ejabberd 24.12 checks the count, and a server that does takes no count twice.
    package func begin() throws -> [FASTToken] {
        try database.run("UPDATE login_token SET count = count + 1 WHERE account = ?", [account])
        return try database.prepare(
            "SELECT mechanism, token, expiry, count FROM login_token WHERE account = ? ORDER BY number DESC"
        ).all([account]) { row in
            FASTToken(
                mechanism: row.text("mechanism"), secret: row.text("token"), expiry: row.optionalInteger("expiry"),
                count: Int(row.integer("count")))
        }
    }

    /// The server has given a new token. The token before stays until the new token has worked: the server may not have stored the
    /// new token, or the answer to the login with the new token may be lost.
    package func add(_ token: FASTToken) throws {
        try database.run(
            """
            INSERT INTO login_token(account, number, mechanism, token, expiry, count)
            VALUES (?1, 1 + (SELECT coalesce(max(number), 0) FROM login_token WHERE account = ?1), ?2, ?3, ?4, ?5)
            """,
            [
                account, .text(token.mechanism), .text(token.secret), .optional(token.expiry),
                .integer(Int64(token.count)),
            ])
        try database.run(
            """
            DELETE FROM login_token WHERE account = ?1 AND number <=
                (SELECT max(number) FROM login_token WHERE account = ?1) - 2
            """, [account])
    }

    /// The server has accepted a token: older tokens are void.
    package func worked(_ token: FASTToken) throws {
        try database.run(
            """
            DELETE FROM login_token WHERE account = ?1 AND number <
                (SELECT number FROM login_token WHERE account = ?1 AND token = ?2)
            """, [account, .text(token.secret)])
    }

    /// The server has refused a token.
    package func refused(_ token: FASTToken) throws {
        try database.run("DELETE FROM login_token WHERE account = ? AND token = ?", [account, .text(token.secret)])
    }

    package func removeAll() throws { try database.run("DELETE FROM login_token WHERE account = ?", [account]) }
}
