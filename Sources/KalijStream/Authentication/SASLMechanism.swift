/// The supported SASL mechanisms, from the weakest to the strongest.
///
/// Mechanism pinning uses this order: after a login no weaker mechanism is accepted, so that a man in the middle cannot remove the
/// stronger mechanisms from the server's list unnoticed.
public enum SASLMechanism: String, Sendable, Hashable, Codable, CaseIterable, Comparable, CustomStringConvertible {
    /// RFC 4616: the password itself; only inside verified TLS.
    case plain = "PLAIN"
    /// RFC 5802.
    case scramSHA1 = "SCRAM-SHA-1"
    /// RFC 7677.
    case scramSHA256 = "SCRAM-SHA-256"
    /// Like RFC 7677, with SHA-512.
    case scramSHA512 = "SCRAM-SHA-512"

    /// The name in `<mechanism/>` (RFC 6120, 6.3.3).
    public var description: String { rawValue }

    private var strength: Int {
        switch self {
        case .plain: 0
        case .scramSHA1: 1
        case .scramSHA256: 2
        case .scramSHA512: 3
        }
    }

    public static func < (left: SASLMechanism, right: SASLMechanism) -> Bool { left.strength < right.strength }

    var digest: HashFunction? {
        switch self {
        case .plain: nil
        case .scramSHA1: .sha1
        case .scramSHA256: .sha256
        case .scramSHA512: .sha512
        }
    }
}

extension SASLMechanism {
    /// The strongest mechanism that the server offers, the credentials support and the pin allows.
    ///
    /// - Parameters:
    ///   - offered: the names in the server's `<mechanisms/>`; unsupported ones are skipped.
    ///   - credentials: keys support only the mechanism of their login.
    ///   - pinned: the weakest acceptable mechanism; nil before the first login.
    /// - Returns: the mechanism to use.
    /// - Throws: `AuthenticationError.noMechanism`, `.onlyWeakerMechanisms` or `.passwordNeeded`.
    public static func strongest(
        of offered: [String], credentials: Credentials, pinned: SASLMechanism?
    ) throws(AuthenticationError) -> SASLMechanism {
        let known = offered.compactMap(SASLMechanism.init(rawValue:))
        guard !known.isEmpty else { throw .noMechanism(offered: offered) }
        let acceptable = known.filter { mechanism in pinned.map { mechanism >= $0 } ?? true }
        guard let strongest = acceptable.max() else {
            throw .onlyWeakerMechanisms(offered: offered, pinned: pinned ?? .plain)
        }
        switch credentials {
        case .password: return strongest
        case .keys(let keys):
            guard acceptable.contains(keys.mechanism) else { throw .passwordNeeded(.mechanismNotOffered) }
            return keys.mechanism
        }
    }
}
