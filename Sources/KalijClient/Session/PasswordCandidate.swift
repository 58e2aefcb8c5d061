import KalijSteps
import KalijStream

/// Which password an account logs in with, while the outcome of a change of the password is not known.
struct PasswordCandidate {
    /// Whether the next login uses the new password.
    private(set) var isNew = false
    /// Whether the other password was refused, since the last success.
    private var isOtherRefused = false

    /// The credentials for the next connection.
    mutating func credentials(_ logins: AccountTable.Logins) -> Credentials {
        if isNew, let new = logins.new { return new }
        // The change was settled meanwhile.
        if logins.new == nil { (isNew, isOtherRefused) = (false, false) }
        isNew = false
        return logins.stored
    }

    /// The server refuses the login.
    /// - Returns: whether the other password is to be tried.
    mutating func refused(_ logins: AccountTable.Logins) -> Bool {
        guard logins.new != nil, !isOtherRefused else {
            (isNew, isOtherRefused) = (false, false)
            return false
        }
        (isNew, isOtherRefused) = (!isNew, true)
        return true
    }

    /// The server has accepted the login.
    mutating func accepted() { (isNew, isOtherRefused) = (false, false) }
}
