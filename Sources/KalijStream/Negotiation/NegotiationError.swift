import KalijAddress

/// Why there is no session. The connection has to be closed and the negotiation thrown away.
public enum NegotiationError: Error, Hashable, Sendable {
    /// The server closed the stream or the connection while we waited for something.
    case closed(during: String)
    /// Nothing has come from the server for long.
    case silent(during: String)
    /// The server ended the stream with an error.
    case stream(StreamError)
    /// The server's stream header is of no use to us.
    case invalidHeader(String)
    /// The server offers no STARTTLS, or somebody took the offer away (RFC 7590, 3.1).
    case tlsNotOffered
    /// The server refused STARTTLS after offering STARTTLS (RFC 6120, 5.4.2.2).
    case tlsRefused
    /// We could not, or would not, authenticate.
    case authentication(AuthenticationError)
    /// The server refused the authentication.
    case sasl(SASLError)
    /// The server refused to bind a resource (RFC 6120, 7.6.2).
    case bind(StanzaError)
    /// The server bound an address of another account.
    case boundElsewhere(JID)
    /// An answer lacks a required part.
    case invalidAnswer(String)
    /// An element that has no place here.
    case unexpected(element: String, during: String)
    /// The owner did something out of order.
    case misuse(String)

    /// Whether user name or password are to blame; nothing changes by trying again.
    public var isRefusal: Bool {
        switch self {
        case .sasl(let error): error.isRefusal
        case .authentication(.refusedByServer(let reason)):
            reason == "invalid-proof" || reason == "unknown-user" || reason == "invalid-username-encoding"
        case .authentication(.invalidPassword), .authentication(.invalidUsername): true
        default: false
        }
    }

    /// Whether the login itself failed, whatever it began with.
    var isOfLogin: Bool {
        switch self {
        case .sasl(let error): error.isRefusal || error.isTemporary
        case .authentication(let error): error != .offerChanged
        default: false
        }
    }

    /// Whether a login that left with the header may have been refused for that alone, before any proof (measured: ejabberd 24.12,
    /// to a header without `from`).
    var mayBeOfHaste: Bool { if case .sasl(let error) = self { error.condition == .notAuthorized } else { false } }

    /// Whether the stored keys are of no use any more and the password would help.
    public var needsPassword: Bool {
        if case .authentication(.passwordNeeded) = self { true } else { false }
    }
}

extension NegotiationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .closed(let stage): "the server closed the connection while we were \(stage)"
        case .silent(let stage): "nothing came from the server for too long while we were \(stage)"
        case .stream(let error): "\(error)"
        case .invalidHeader(let problem): "the server's stream header cannot be accepted: \(problem)"
        case .tlsNotOffered: "the server offers no encryption (STARTTLS), or somebody removed the offer"
        case .tlsRefused: "the server offered encryption (STARTTLS) and then refused it"
        case .authentication(let error): "\(error)"
        case .sasl(let error): "\(error)"
        case .bind(let error): "the server refused to bind a resource: \(error)"
        case .boundElsewhere(let jid): "the server bound \(jid), which is not this account"
        case .invalidAnswer(let problem): "the server's answer is invalid: \(problem)"
        case .unexpected(let element, let stage): "the server sent \(element) while we were \(stage)"
        case .misuse(let what): "the negotiation was used out of order: \(what)"
        }
    }
}
