import KalijAddress

/// The reason why there is no session. The connection has to be closed and the negotiation discarded.
public enum NegotiationError: Error, Hashable, Sendable {
    /// The server closed the stream or the connection while a response was pending.
    case closed(during: String)
    /// A timeout: nothing was received from the server for too long.
    case silent(during: String)
    /// The server ended the stream with an error.
    case stream(StreamError)
    /// The server's stream header is not acceptable.
    case invalidHeader(String)
    /// The server offers no STARTTLS, or a man in the middle removed the offer (RFC 7590, 3.1).
    case tlsNotOffered
    /// The server rejected STARTTLS after offering it (RFC 6120, 5.4.2.2).
    case tlsRefused
    /// The authentication failed on the client's side.
    case authentication(AuthenticationError)
    /// The server rejected the authentication.
    case sasl(SASLError)
    /// The server rejected the binding of a resource (RFC 6120, 7.6.2).
    case bind(StanzaError)
    /// The server bound an address of another account.
    case boundElsewhere(JID)
    /// A response lacks a required part.
    case invalidAnswer(String)
    /// An element that is not expected here.
    case unexpected(element: String, during: String)
    /// The owner passed an event out of order.
    case misuse(String)

    /// Whether user name or password were rejected: a retry would fail again.
    public var isRefusal: Bool {
        switch self {
        case .sasl(let error): error.isRefusal
        case .authentication(.refusedByServer(let reason)):
            reason == "invalid-proof" || reason == "unknown-user" || reason == "invalid-username-encoding"
        case .authentication(.invalidPassword), .authentication(.invalidUsername): true
        default: false
        }
    }

    /// Whether the login itself failed, whether it was pipelined or not.
    var isOfLogin: Bool {
        switch self {
        case .sasl(let error): error.isRefusal || error.isTemporary
        case .authentication(let error): error != .offerChanged
        default: false
        }
    }

    /// Whether a login that was sent together with the header may have been rejected for that reason alone, before any proof (measured:
    /// ejabberd 24.12, in response to a header without `from`).
    var mayBeOfHaste: Bool { if case .sasl(let error) = self { error.condition == .notAuthorized } else { false } }

    /// Whether the stored keys are no longer valid, and the password is required.
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
