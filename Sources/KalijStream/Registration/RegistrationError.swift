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

    /// Whether the address belongs to an existing account.
    public var isTaken: Bool { if case .refused(let error) = self { error.condition == .conflict } else { false } }

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
        }
    }
}
