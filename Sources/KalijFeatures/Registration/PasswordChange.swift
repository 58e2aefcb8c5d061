import KalijAddress
import KalijHandlers
import KalijCore
import KalijXML

/// A change of the password at the server (XEP-0077 section 3.3).
///
/// The request is sent before the response is received, and the process may be killed in between. Therefore both passwords are stored
/// until the server has responded, or a login has shown which one is valid.
struct PasswordChange {
    let step: Step
    private var accounts: AccountTable { AccountTable(step.database) }

    /// Requests the new password from the server.
    /// - Throws: `PasswordError`
    func begin(_ password: String) throws {
        guard !password.isEmpty, !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw PasswordError.unusable }
        guard try accounts.logins(of: step.account.id)?.new.map({ $0 == .password(password) }) ?? true else {
            throw PasswordError.underWay
        }
        // A repeated call with the same password replaces the handler. The first request remains in the queue: the server may count it,
        // and acknowledges by the count.
        try Requests(step: step).forget(PasswordChangeResponse.name)
        try accounts.begin(newPassword: password, of: step.account.id)
        let query = Element(
            "query", xmlns: RegistrationFeature.namespace,
            children: [
                Element("username", xmlns: RegistrationFeature.namespace, text: step.account.jid.local ?? ""),
                Element("password", xmlns: RegistrationFeature.namespace, text: password),
            ])
        try step.send(
            .request(.set, query, to: .received(step.account.jid.domain)), then: PasswordChangeResponse(),
            within: .seconds(60))
    }

    /// Handles a successful login, with the new password or with the stored credentials.
    package func loggedIn(withNew isNew: Bool) throws {
        guard try accounts.logins(of: step.account.id)?.new != nil else { return }
        if isNew { return try taken() }
        // While the request is pending, the server may still perform it.
        guard try !Requests(step: step).isWaiting([PasswordChangeResponse.name]) else { return }
        try refused(because: "the server has not taken the new password")
    }

    fileprivate func taken() throws {
        try accounts.adoptNewPassword(of: step.account.id)
        step.emit(AccountChanged(problem: nil))
    }

    fileprivate func refused(because problem: String) throws {
        try accounts.dropNewPassword(of: step.account.id, because: problem)
        step.emit(AccountChanged(problem: problem))
    }
}

/// Handles the server's response to a change of the password.
struct PasswordChangeResponse: InvalidatableHandler {
    static let name = "registration.password"

    func call(_ reply: IQReply, in step: Step) throws {
        let change = PasswordChange(step: step)
        switch reply {
        case .result: try change.taken()
        case .error(let error, _): try change.refused(because: error.description)
        case .timeout where step.isForUnsent: try change.refused(because: "your server was not reached in time")
        // The server may have performed the change: the next login shows it.
        case .timeout: break
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

extension Step {
    /// Changes the account's password at its server, in the account's session. Both passwords are stored until the outcome is
    /// determined (``AccountTable/lastChange(of:)``): the account logs in with the valid one.
    /// - Throws: `PasswordError`, `StoreError`
    public func changePassword(to password: String) throws { try PasswordChange(step: self).begin(password) }
}

/// The reason why a password cannot be changed.
public enum PasswordError: Error, Sendable, CustomStringConvertible {
    /// The password is empty or has control characters.
    case unusable
    /// The outcome of a change to another password is pending.
    case underWay

    public var description: String {
        switch self {
        case .unusable: "a password is not empty, and has no control characters"
        case .underWay:
            "the outcome of a change to another password is not known yet: the next login of the account shows it"
        }
    }
}
