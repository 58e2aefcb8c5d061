import KalijCore
import KalijStream

/// Selects the password for a login while the outcome of a password change is undetermined.
package struct PasswordCandidate {
    /// Whether the next login uses the new password.
    package private(set) var isNew = false
    /// Whether the other password was refused since the last success.
    private var isOtherRefused = false

    /// The credentials for the next connection.
    package mutating func credentials(_ logins: AccountTable.Logins) -> Credentials {
        if isNew, let new = logins.new { return new }
        // The change was settled in the meantime.
        if logins.new == nil { (isNew, isOtherRefused) = (false, false) }
        isNew = false
        return logins.stored
    }

    /// The server has refused the login.
    /// - Returns: whether to try the other password.
    package mutating func refused(_ logins: AccountTable.Logins) -> Bool {
        guard logins.new != nil, !isOtherRefused else {
            (isNew, isOtherRefused) = (false, false)
            return false
        }
        (isNew, isOtherRefused) = (!isNew, true)
        return true
    }

    /// The server has accepted the login.
    package mutating func accepted() { (isNew, isOtherRefused) = (false, false) }
}
