import COpenSSL

/// A public key of X25519: 32 bytes, little-endian.
public struct PublicKey: Hashable, Sendable {
    public let bytes: [UInt8]

    /// - Throws: `RatchetError.badKey` if the bytes are not 32, or not the only form of their number. RFC 7748 accepts
    ///   other forms: a twin of a key would count as another key.
    public init(_ bytes: some Collection<UInt8>) throws {
        let bytes = Array(bytes)
        guard CurveConversion.isCanonical(bytes) else { throw RatchetError.badKey }
        self.bytes = bytes
    }

    /// A key that was checked before, or made here.
    init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// A pair of keys of X25519.
public struct KeyPair: Sendable {
    public let secret: Secret
    public let key: PublicKey

    /// - Parameter secret: 32 bytes; X25519 clamps them (RFC 7748 section 5).
    /// - Throws: `RatchetError.library`
    public init(secret: Secret) throws {
        defer { kalij_overwrite_stack() }
        self.secret = secret
        key = try Curve.publicKey(of: secret)
    }

    /// A pair that was made before.
    init(secret: Secret, key: PublicKey) { (self.secret, self.key) = (secret, key) }

    /// A new pair.
    /// - Throws: `RatchetError.library`
    package static func make(_ random: Randomness = .system) throws -> KeyPair {
        try KeyPair(secret: .random(32, random))
    }
}
