import KalijHandlers
import KalijCore

/// Changes of the account itself at its server (XEP-0077): a new password, and the removal of the account.
enum RegistrationFeature: Feature {
    static let name = "registration"
    static let namespace = "jabber:iq:register"
    static var handlers: [any Handler<Step>.Type] { [PasswordChangeResponse.self, UnregisterResponse.self] }
}
