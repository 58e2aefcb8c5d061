/// The meaning of a provider's answer, the same for all providers.
public enum Verdict: Sendable, Equatable {
    /// The provider has accepted the push.
    case delivered
    /// The device no longer exists: proven.
    case dead
    /// The token is not accepted: proven, unless the module itself is doubtful.
    case bad
    /// The credentials have expired: to be sent once more with new ones.
    case staleCredentials
    /// A fault of this server; repeating does not help; in the provider's words.
    case fault(String)
    /// The service does not accept the push, which proves nothing about the device, and nothing about other services; in words.
    case unaccepted(String)
    /// Too many pushes to the token, or by the module; how long to wait, if the provider specifies it.
    case tooMany(Scope, retryAfter: Milliseconds?)
    /// The provider cannot accept the push at the moment; in words.
    case transient(String)

    /// What rests after too many pushes.
    public enum Scope: Sendable, Equatable {
        case token
        case module
    }
}
