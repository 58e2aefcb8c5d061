/// The two formats of OMEMO (XEP-0384), and all constants in which the formats differ.
public enum OMEMOVersion: Int, Sendable, CaseIterable {
    /// Version 0.3, `eu.siacs.conversations.axolotl`.
    case axolotl = 3
    /// Version 2 of the namespace, `urn:xmpp:omemo:2`.
    case omemo2 = 2

    // HKDF's infos.
    var agreementInfo: String { self == .axolotl ? "WhisperText" : "OMEMO X3DH" }
    var rootInfo: String { self == .axolotl ? "WhisperRatchet" : "OMEMO Root Chain" }
    var messageInfo: String { self == .axolotl ? "WhisperMessageKeys" : "OMEMO Message Key Material" }

    /// Bytes of a message's MAC.
    var macCount: Int { self == .axolotl ? 8 : 16 }

    /// Version 3 of 3: the first byte of a message and of a key exchange.
    static let version: UInt8 = 0x33
    /// The first byte of a public key of 0.3: a key of Curve25519.
    static let keyType: UInt8 = 0x05

    /// A ratchet key or prekey as the format writes them.
    func encode(_ key: PublicKey) -> [UInt8] { self == .axolotl ? [Self.keyType] + key.bytes : key.bytes }

    /// - Throws: `RatchetError.badKey`
    func key(_ bytes: some Collection<UInt8>) throws -> PublicKey {
        guard self == .axolotl else { return try PublicKey(bytes) }
        guard bytes.first == Self.keyType else { throw RatchetError.badKey }
        return try PublicKey(bytes.dropFirst())
    }

    /// An identity key as the format writes them.
    func encode(_ identity: PublicIdentity) -> [UInt8] {
        self == .axolotl ? encode(identity.key) : identity.edwards
    }

    /// A ratchet key or prekey as bundles have it: with the type of the key in 0.3.
    public func written(_ key: PublicKey) -> [UInt8] { encode(key) }

    /// An identity key as bundles have it: in 0.3 the Curve25519 form with the type, in 2 the Ed25519 form.
    public func written(_ identity: PublicIdentity) -> [UInt8] { encode(identity) }

    /// An identity key of a bundle.
    /// - Throws: `RatchetError.badKey`
    public func identity(_ bytes: some Collection<UInt8>) throws -> PublicIdentity {
        self == .axolotl ? try PublicIdentity(key(bytes)) : try PublicIdentity(edwards: Array(bytes))
    }
}
