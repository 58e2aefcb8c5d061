import COpenSSL

/// Somebody's identity key.
public struct PublicIdentity: Hashable, Sendable {
    /// The Curve25519 form: the name of the identity, for fingerprints and trust.
    public let key: PublicKey
    /// The Ed25519 form, with the sign as the bundle or the message had it; without a sign in 0.3.
    public let edwards: [UInt8]

    /// From the Curve25519 form (0.3).
    /// - Throws: `RatchetError.badKey`
    public init(_ key: PublicKey) throws {
        self.key = key
        edwards = try CurveConversion.edwards(key.bytes)
    }

    /// From the Ed25519 form (2).
    /// - Throws: `RatchetError.badKey`
    public init(edwards: [UInt8]) throws {
        key = PublicKey(checked: try CurveConversion.montgomery(edwards))
        self.edwards = edwards
    }

    /// From a row.
    init(_ key: PublicKey, storedAs edwards: [UInt8]) { (self.key, self.edwards) = (key, edwards) }

    /// Whether `signature` is of `message` by the owner of this identity.
    ///
    /// In 0.3 signers use XEdDSA with the sign 0, or put the sign of their Ed25519 key into the signature's top bit
    /// (libsignal); in 2 the key has its sign.
    func hasSigned(_ message: [UInt8], _ signature: [UInt8], _ dialect: OMEMOVersion) throws -> Bool {
        guard signature.count == 64 else { return false }
        guard dialect == .axolotl else { return try Curve.verify(signature, of: message, by: edwards) }
        var (signature, edwards) = (signature, edwards)
        edwards[31] = edwards[31] & 0x7f | signature[63] & 0x80
        signature[63] &= 0x7f
        return try Curve.verify(signature, of: message, by: edwards)
    }

    /// Whether `signature` is of the label of a device by the owner of this identity, whichever sign its Ed25519 form has (XEP-0384
    /// section 5.3.1).
    /// - Throws: `RatchetError.library`
    package func hasSigned(label: [UInt8], _ signature: [UInt8]) throws -> Bool {
        if signature.count != 64 { return false }
        var edwards = edwards
        for sign: UInt8 in [0, 0x80] {
            edwards[31] = edwards[31] & 0x7f | sign
            if try Curve.verify(signature, of: label, by: edwards) { return true }
        }
        return false
    }
}

/// The own identity: a key for agreements and for signatures, in both formats.
///
/// The identity is an Ed25519 seed whose public key has the sign 0. The scalar that Ed25519 makes of the seed is the X25519
/// secret, so both forms of the public key belong together, and any conversion between them verifies the signatures.
public struct Identity: Sendable {
    public let seed: Secret
    public let publicIdentity: PublicIdentity
    /// For agreements.
    let pair: KeyPair

    /// - Parameter seed: 32 bytes whose Ed25519 public key has the sign 0.
    /// - Throws: `RatchetError.badKey` for another seed, `RatchetError.library`.
    public init(seed: Secret) throws {
        defer { kalij_overwrite_stack() }
        self.seed = seed
        let edwards = try Curve.edwardsKey(of: seed)
        guard edwards[31] & 0x80 == 0 else { throw RatchetError.badKey }
        // RFC 8032 section 5.1.5
        pair = try KeyPair(secret: Hash.sha512(seed).part(0..<32))
        publicIdentity = try PublicIdentity(edwards: edwards)
        guard publicIdentity.key == pair.key else { throw RatchetError.library("the forms of the key differ") }
    }

    /// A new identity: seeds are drawn until the sign is 0.
    /// - Throws: `RatchetError.library`
    package static func make(_ random: Randomness = .system) throws -> Identity {
        while true {
            let seed = try Secret.random(32, random)
            guard try Curve.edwardsKey(of: seed)[31] & 0x80 == 0 else { continue }
            return try Identity(seed: seed)
        }
    }

    /// The signature of a signed prekey (RFC 8032, deterministic).
    /// - Throws: `RatchetError.library`
    public func sign(_ prekey: PublicKey, _ dialect: OMEMOVersion) throws -> [UInt8] {
        defer { kalij_overwrite_stack() }
        return try Curve.sign(dialect.encode(prekey), seed: seed)
    }

    /// The signature of the label of a device (XEP-0384 section 5.3.1).
    /// - Throws: `RatchetError.library`
    package func sign(label: [UInt8]) throws -> [UInt8] {
        defer { kalij_overwrite_stack() }
        return try Curve.sign(label, seed: seed)
    }
}
