/// The reason why an account was not registered.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server does not offer registration, or only with an invitation.
    case notOffered(invitations: Bool)
    /// The server rejects the invitation.
    case invitation(StanzaError)
    /// The server rejects the registration: a conflict of the name, too many registrations, an incorrect value, ...
    case refused(StanzaError)
    /// An account can only be registered at this address, outside of XMPP.
    case elsewhere(String)
    /// The values do not match the server's fields; with a description.
    case field(String)
    /// The server's response is invalid; with a description.
    case invalidAnswer(String)
    /// The server has ended the connection while the form was being filled in, and now has another form.
    case expired

    /// Whether the address belongs to an existing account.
    public var isTaken: Bool { if case .refused(let error) = self { error.condition == .conflict } else { false } }

    /// Whether another response to the server's form may succeed.
    public var isCorrectable: Bool {
        switch self {
        case .refused, .field, .expired: true
        case .notOffered, .invitation, .elsewhere, .invalidAnswer: false
        }
    }

    public var description: String {
        switch self {
        case .notOffered(true): "the server registers only who has an invitation"
        case .notOffered(false): "the server registers no accounts"
        case .invitation(let error): "the server does not take the invitation: \(error)"
        case .refused(let error) where isTaken: "the address is taken: \(error)"
        case .refused(let error): "the server refuses the registration: \(error)"
        case .elsewhere(let link): "the server registers accounts at another place: \(link)"
        case .field(let problem): problem
        case .invalidAnswer(let problem): "the server's answer cannot be used: \(problem)"
        case .expired: "the server has waited too long for the answers, and asks anew"
        }
    }
}
