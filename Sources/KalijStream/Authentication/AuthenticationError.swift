import KalijAddress
import KalijText

/// A failure of an authentication on the client's side. A rejection by the server is a `SASLError`.
///
/// No description contains a password, a key or a proof.
public enum AuthenticationError: Error, Hashable, Sendable {
    /// The reason why stored keys cannot be used.
    public enum KeyProblem: Hashable, Sendable {
        /// The server no longer offers the mechanism of the keys.
        case mechanismNotOffered
        /// The server's salt or iteration count has changed since the keys were derived.
        case serverChangedSalt
        /// The keys have the wrong length.
        case keysDamaged
    }

    /// The server offers no supported mechanism.
    case noMechanism(offered: [String])
    /// All offered mechanisms are weaker than one used before: the list may have been tampered with.
    case onlyWeakerMechanisms(offered: [String], pinned: SASLMechanism)
    /// The server offers no channel binding as strong as one used before, or this connection has none: there may be a man in the
    /// middle. Nil if both sides have no kind in common (XEP-0440 section 5).
    case bindingMissing(ChannelBindings.Kind?)
    /// The server no longer offers XEP-0388, which was used before.
    case profileMissing
    /// The server offers mechanisms with channel binding but no kinds, or kinds but no mechanisms (XEP-0440 section 5).
    case contradictoryOffer
    /// The server has sent other lists of mechanisms and bindings than were received (XEP-0474): there is a man in the middle.
    case tamperedOffer
    /// The server's offer differs from that of the last login, which this login has assumed: the login is to be repeated in single
    /// steps.
    case offerChanged
    /// The server requires further tasks (XEP-0388 section 2.6.3), which are not supported.
    case furtherTasks
    /// The server has authenticated another account.
    case otherIdentity
    /// The stored keys are no longer valid: the password is required.
    case passwordNeeded(KeyProblem)
    /// The user name cannot be prepared (RFC 4013).
    case invalidUsername(PreparationFailure)
    /// The password is empty or cannot be prepared (RFC 4013). The reason is omitted, because it would reveal a part of the password.
    case invalidPassword
    /// The provided nonce has forbidden characters.
    case invalidNonce
    /// The server's message violates the mechanism's specification.
    case invalidMessage(String)
    /// The iteration count is not in `SCRAM.acceptedIterations`.
    case iterationsOutOfBounds(Int)
    /// The server's signature is wrong: it does not have the password, and is not the account's server.
    case wrongServerSignature
    /// The server reports success without having proven that it has the password.
    case missingServerSignature
    /// The server has rejected the login within the mechanism, with a code of RFC 5802, 7 ("invalid-proof", "unknown-user", ...).
    case refusedByServer(reason: String)
    /// A hash function of OpenSSL has failed.
    case cryptography
}

extension AuthenticationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noMechanism(let offered):
            "the server offers no login mechanism known here (\(Self.list(offered)))"
        case .onlyWeakerMechanisms(let offered, let pinned):
            "the server offers only login mechanisms weaker than \(pinned), used before (\(Self.list(offered)))"
        case .bindingMissing(let kind?):
            "the login cannot be bound to the connection by \(kind.rawValue), as before: somebody may be in between"
        case .bindingMissing(nil): "the server offers no channel binding known here: somebody may be in between"
        case .profileMissing: "the server no longer offers SASL2, used before: somebody may be in between"
        case .contradictoryOffer: "the server's offers of channel binding contradict each other"
        case .tamperedOffer: "somebody in between has changed the server's list of login mechanisms"
        case .offerChanged: "the server offers other logins than before"
        case .furtherTasks: "the server asks for more than the password, which is not supported"
        case .otherIdentity: "the server logged in another account"
        case .passwordNeeded(.mechanismNotOffered):
            "the password is needed: the server no longer offers the mechanism of the stored keys"
        case .passwordNeeded(.serverChangedSalt):
            "the password is needed: the server's salt or iteration count has changed since the keys were made"
        case .passwordNeeded(.keysDamaged): "the password is needed: the stored keys are damaged"
        case .invalidUsername(let failure): "the user name cannot be used: \(failure)"
        case .invalidPassword: "the password is empty or has forbidden characters"
        case .invalidNonce: "the nonce has forbidden characters"
        case .invalidMessage(let what): "the server's login message is invalid: \(what)"
        case .iterationsOutOfBounds(let count):
            "the server asks for \(count) iterations; "
                + "\(SCRAM.acceptedIterations.lowerBound) to \(SCRAM.acceptedIterations.upperBound) are accepted"
        case .wrongServerSignature: "the server does not know the password: its signature is wrong"
        case .missingServerSignature: "the server did not prove that it knows the password"
        case .refusedByServer(let reason): "the server refused the login: \(reason)"
        case .cryptography: "OpenSSL cannot carry out a hash function"
        }
    }

    /// Whether the offer is unacceptable only because of the pin.
    var isDescent: Bool {
        if case .onlyWeakerMechanisms = self { true } else { false }
    }

    /// The server's names, truncated to fit a line.
    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.prefix(12).map { $0.cut(to: 40) }.joined(separator: ", ")
    }
}
