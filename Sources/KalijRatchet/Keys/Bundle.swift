/// What is needed to begin a session with a device: the parts of a bundle that are used (X3DH section 3.2).
public struct Bundle: Sendable {
    public let identity: PublicIdentity
    public let signedPrekey: PublicKey
    public let signedPrekeyID: UInt32
    public let prekey: PublicKey
    public let prekeyID: UInt32

    /// The raw values of a bundle, of which a single prekey is chosen.
    /// - Parameters:
    ///   - identity: 33 bytes in 0.3, 32 in 2.
    ///   - signedPrekey: as the identity, always in the Curve25519 form.
    ///   - signature: 64 bytes.
    /// - Throws: `RatchetError.badKey`, `badSignature`, `malformed` for an id of 2³¹ or more.
    public init(
        _ dialect: OMEMOVersion, identity: [UInt8], signedPrekey: (id: UInt32, key: [UInt8]), signature: [UInt8],
        prekey: (id: UInt32, key: [UInt8])
    ) throws {
        guard signedPrekey.id <= RatchetLimits.largestNumber, prekey.id <= RatchetLimits.largestNumber else {
            throw RatchetError.malformed("the id of a prekey")
        }
        self.identity = try dialect.identity(identity)
        self.signedPrekey = try dialect.key(signedPrekey.key)
        self.prekey = try dialect.key(prekey.key)
        (signedPrekeyID, prekeyID) = (signedPrekey.id, prekey.id)
        guard try self.identity.hasSigned(dialect.encode(self.signedPrekey), signature, dialect) else {
            throw RatchetError.badSignature
        }
    }
}

/// Bounds of what is computed and kept for others.
public enum RatchetLimits {
    /// The largest id and message number: 2³¹ − 1.
    public static let largestNumber: UInt32 = 0x7fff_ffff
    /// How many keys a message may skip.
    public static let mostSkipped = 1000
}
