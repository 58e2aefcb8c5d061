import KalijHandlers
import KalijStore
import KalijStream

/// Changes of an account at its server (XEP-0077): the password, and the removal. Until the outcome has been determined, both
/// possible outcomes are stored.
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
        /// The change is pending, or its outcome could not be determined.
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

    /// Records that a change to a new password is requested from the server.
    package func begin(newPassword: String, of account: Int64) throws {
        try database.run(
            "UPDATE account SET new_password = ?, problem = NULL WHERE id = ?", [.text(newPassword), .integer(account)])
    }

    /// Records that the server accepts the new password, if a change is pending.
    package func adoptNewPassword(of account: Int64) throws {
        try database.run(
            """
            UPDATE account SET password = new_password, keys = NULL, new_password = NULL
            WHERE id = ? AND new_password IS NOT NULL
            """, [.integer(account)])
    }

    /// Records that the server does not accept the new password, if a change is pending.
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

    /// Records that the removal of the account is requested from the server.
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
