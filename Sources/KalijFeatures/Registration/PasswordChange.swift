import KalijAddress
import KalijHandlers
import KalijSteps
import KalijXML

/// A new password at the server (XEP-0077 section 3.3).
///
/// The change leaves this process before the answer comes, and the process may be killed in between. So both passwords are stored
/// until the server has answered, or until a login has shown which of both counts.
struct PasswordChange {
    let step: Step
    private var accounts: AccountTable { AccountTable(step.database) }

    /// Asks the server for the new password.
    /// - Throws: `PasswordError`
    func begin(_ password: String) throws {
        guard !password.isEmpty, !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw PasswordError.unusable }
        guard try accounts.logins(of: step.account.id)?.new.map({ $0 == .password(password) }) ?? true else {
            throw PasswordError.underWay
        }
        // A second wish for the same password says the same. The first request stays in the queue: the server perhaps counts the
        // request, and acknowledges by the count.
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

    /// A login has succeeded, with the new password or with the stored credentials.
    package func loggedIn(withNew isNew: Bool) throws {
        if isNew { return try accounts.adoptNewPassword(of: step.account.id) }
        // While the request is on its way, the server may still take the change.
        guard try !Requests(step: step).isWaiting([PasswordChangeResponse.name]) else { return }
        try accounts.dropNewPassword(of: step.account.id, because: "the server has not taken the new password")
    }
}

/// The server's answer to a change of the password, or none.
struct PasswordChangeResponse: InvalidatableHandler {
    static let name = "registration.password"

    func call(_ reply: IQReply, in step: Step) throws {
        let accounts = AccountTable(step.database)
        switch reply {
        case .result: try accounts.adoptNewPassword(of: step.account.id)
        case .error(let error, _): try accounts.dropNewPassword(of: step.account.id, because: error.description)
        case .timeout where step.isForUnsent:
            try accounts.dropNewPassword(of: step.account.id, because: "your server was not reached in time")
        // The server may have taken the change: the next login shows.
        case .timeout: break
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

extension Step {
    /// Changes the account's password at its server, over the account's session. Both passwords are stored until the outcome is
    /// known (``AccountTable/lastChange(of:)``): the account logs in with the password that counts.
    /// - Throws: `PasswordError`, `StoreError`
    public func changePassword(to password: String) throws { try PasswordChange(step: self).begin(password) }

    /// A login has succeeded.
    package func loggedIn(withNewPassword isNew: Bool) throws {
        try PasswordChange(step: self).loggedIn(withNew: isNew)
    }
}

/// Why a password cannot be changed.
public enum PasswordError: Error, Sendable, CustomStringConvertible {
    /// The password is empty or has control characters.
    case unusable
    /// The outcome of a change to another password is not known yet.
    case underWay

    public var description: String {
        switch self {
        case .unusable: "a password is not empty, and has no control characters"
        case .underWay:
            "the outcome of a change to another password is not known yet: the next login of the account shows it"
        }
    }
}
