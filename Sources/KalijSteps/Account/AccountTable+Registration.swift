import KalijHandlers
import KalijStore
import KalijStream

/// Changes of an account at its server (XEP-0077): the password, and the removal. Until the outcome is known, both possible
/// outcomes are stored.
extension AccountTable {
    /// What the account can log in with.
    package struct Logins: Sendable {
        package let stored: Credentials
        /// The new password, if the server may have taken a change.
        package let new: Credentials?
        /// Whether the server may have removed the account.
        package let isUnregistering: Bool

        package init(stored: Credentials, new: Credentials? = nil, isUnregistering: Bool = false) {
            (self.stored, self.new, self.isUnregistering) = (stored, new, isUnregistering)
        }
    }

    /// The outcome of the last change.
    public enum ChangeOutcome: Sendable, Equatable {
        /// Nobody knows yet, or nobody knows.
        case unknown
        /// The server has made the change.
        case done
        /// The server refused; in words.
        case refused(String)
    }

    package func logins(of account: Int64) throws -> Logins? {
        try database.statement("SELECT keys, password, new_password, unregistering FROM account WHERE id = ?")
            .first([.integer(account)]) { row in
                Logins(
                    stored: try Self.credentials(keys: row.optionalBlob("keys"), password: row.text("password")),
                    new: row.optionalText("new_password").map { .password($0) },
                    isUnregistering: row.bool("unregistering"))
            }
    }

    /// The outcome of the last change of the account's password, or of its removal.
    public func lastChange(of account: Account) throws -> ChangeOutcome {
        try database.statement(
            "SELECT new_password IS NOT NULL OR unregistering AS open, problem FROM account WHERE id = ?"
        ).first([.integer(account.id)]) { row in
            if row.bool("open") { return .unknown }
            return row.optionalText("problem").map { .refused($0) } ?? .done
        } ?? .done
    }

    // MARK: The password

    /// The server is asked for a new password.
    package func begin(newPassword: String, of account: Int64) throws {
        try database.run(
            "UPDATE account SET new_password = ?, problem = NULL WHERE id = ?", [.text(newPassword), .integer(account)])
    }

    /// The server knows the new password, if there is one.
    package func adoptNewPassword(of account: Int64) throws {
        try database.run(
            """
            UPDATE account SET password = new_password, keys = NULL, new_password = NULL
            WHERE id = ? AND new_password IS NOT NULL
            """, [.integer(account)])
    }

    /// The server does not know the new password, if there is one.
    package func dropNewPassword(of account: Int64, because problem: String) throws {
        try database.run(
            "UPDATE account SET new_password = NULL, problem = ? WHERE id = ? AND new_password IS NOT NULL",
            [.text(problem), .integer(account)])
    }

    /// Stores keys in the password's place.
    package func store(_ keys: SCRAMKeys, of account: Int64) throws {
        try database.run(
            "UPDATE account SET keys = ?, password = NULL WHERE id = ?",
            [.blob(try StoredValue(encoding: keys).canonicalBytes), .integer(account)])
    }

    // MARK: The removal

    /// The server is asked to remove the account.
    package func beginUnregistering(_ account: Int64) throws {
        try database.run("UPDATE account SET unregistering = 1, problem = NULL WHERE id = ?", [.integer(account)])
    }

    /// The server has removed the account.
    /// - Parameter state: what becomes of the account here.
    package func unregistered(_ account: Int64, _ state: Account.State) throws {
        try database.run(
            "UPDATE account SET unregistering = 0, state = ? WHERE id = ? AND unregistering",
            [.state(state), .integer(account)])
    }

    /// The server has not removed the account.
    package func keptRegistered(_ account: Int64, because problem: String) throws {
        try database.run(
            "UPDATE account SET unregistering = 0, problem = ? WHERE id = ? AND unregistering",
            [.text(problem), .integer(account)])
    }
}
