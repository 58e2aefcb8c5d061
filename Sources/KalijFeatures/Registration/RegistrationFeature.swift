import KalijHandlers
import KalijCore
import KalijStore

/// Changes of the account itself at its server (XEP-0077): a new password, and the removal of the account.
enum RegistrationFeature: Feature, AccountObserver {
    static let name = "registration"
    static let namespace = "jabber:iq:register"
    static var handlers: [any Handler<Step>.Type] { [PasswordChangeResponse.self, UnregisterResponse.self] }
    static var events: [any EventContent.Type] { [AccountChanged.self] }

    static func didLogIn(withNewPassword isNew: Bool, in step: Step) throws {
        try PasswordChange(step: step).loggedIn(withNew: isNew)
        if try isUnregistering(step) { try step.accountIsThere() }
    }

    /// The server has most likely removed the account; the messages are kept, because the removal was not confirmed.
    static func didRefuseLogin(in step: Step) throws {
        guard try isUnregistering(step), try !Requests(step: step).isUnsent(UnregisterResponse.name) else { return }
        try step.unregistered(.leaving)
    }

    private static func isUnregistering(_ step: Step) throws -> Bool {
        try AccountTable(step.database).logins(of: step.account.id)?.isUnregistering ?? false
    }
}
