/// Why an account was not registered.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server registers nobody; or only the invited.
    case notOffered(invitations: Bool)
    /// The server does not take the invitation.
    case invitation(StanzaError)
    /// The server refuses the registration: the name is taken, too many registrations, a wrong answer, ...
    case refused(StanzaError)
    /// An account can only be registered at this address, outside of XMPP.
    case elsewhere(String)
    /// The answers do not fit the server's questions; in words.
    case field(String)
    /// The server's answer is of no use; in words.
    case invalidAnswer(String)

    /// Whether the address belongs to an account already.
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
