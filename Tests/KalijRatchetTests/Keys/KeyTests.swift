import Testing

@testable import KalijRatchet

@Suite struct KeyTests {
    @Test("an Ed25519 seed whose public key has the sign 0 gives the X25519 pair of the vectors", arguments: 0..<12)
    func identities(_ index: Int) throws {
        let vector = Vectors.all.identities[index]
        let identity = try Identity(seed: Secret(vector.seed.bytes))
        #expect(identity.publicIdentity.edwards == vector.ed25519Pub.bytes)
        #expect(identity.publicIdentity.key.bytes == vector.x25519Pub.bytes)
        #expect(identity.pair.secret.exported == vector.x25519Priv.bytes)
    }

    @Test("a new identity has the sign 0, whatever was drawn before")
    func drawn() throws {
        for _ in 0..<20 {
            let identity = try Identity.make()
            #expect(identity.publicIdentity.edwards[31] & 0x80 == 0)
            #expect(identity.pair.key == identity.publicIdentity.key)
        }
        // Seeds with the sign 1 are refused, so that no stored seed can have it.
        let others = try (0..<40).map { try Curve.edwardsKey(of: Secret([UInt8](repeating: $0, count: 32))) }
        #expect(others.contains { $0[31] & 0x80 != 0 })
        for byte in UInt8(0)..<40 where others[Int(byte)][31] & 0x80 != 0 {
            #expect(throws: RatchetError.badKey) { try Identity(seed: Secret([UInt8](repeating: byte, count: 32))) }
        }
    }

    @Test("both forms of a public key are mapped to each other as by libxeddsa")
    func maps() throws {
        for vector in Vectors.all.maps {
            #expect(try CurveConversion.montgomery(vector.ed25519Pub.bytes) == vector.x25519Pub.bytes)
            var edwards = try CurveConversion.edwards(vector.x25519Pub.bytes)
            edwards[31] |= UInt8(vector.sign) << 7
            #expect(edwards == vector.ed25519Pub.bytes)
        }
    }

    private static func number(_ low: UInt8) -> [UInt8] { [low] + [UInt8](repeating: 0xff, count: 30) + [0x7f] }

    @Test("non-canonical keys: a number of p or more, and the top bit of u, are refused")
    func canonical() throws {
        // p is 2^255 − 19: 0xed in its lowest byte.
        for low in UInt8(0xed)...0xff {
            #expect(throws: RatchetError.badKey) { try PublicKey(Self.number(low)) }
            #expect(throws: RatchetError.badKey) { try PublicIdentity(edwards: Self.number(low)) }
        }
        #expect(try PublicKey(Self.number(0xec)).bytes == Self.number(0xec))
        // A twin of a key: X25519 masks the bit, so both agree on the same secret.
        var twin = Vectors.all.identities[0].x25519Pub.bytes
        twin[31] |= 0x80
        #expect(throws: RatchetError.badKey) { try PublicKey(twin) }
        for count in [0, 31, 33] {
            #expect(throws: RatchetError.badKey) { try PublicKey([UInt8](repeating: 9, count: count)) }
            #expect(throws: RatchetError.badKey) { try PublicIdentity(edwards: [UInt8](repeating: 9, count: count)) }
        }
    }

    @Test("keys without the other form are refused: u = −1, and y = 1")
    func without() throws {
        #expect(throws: RatchetError.badKey) { try CurveConversion.edwards(Self.number(0xec)) }
        #expect(throws: RatchetError.badKey) { try CurveConversion.montgomery([1] + [UInt8](repeating: 0, count: 31)) }
    }

    /// The points of low order (RFC 7748 section 6.1), in their only form.
    static let lowOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31), number(0xec),
        [UInt8](hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800") ?? [],
        [UInt8](hex: "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157") ?? [],
    ]

    @Test("low-order keys agree on nothing", arguments: lowOrder)
    func lowOrderKeys(_ bytes: [UInt8]) throws {
        let key = try PublicKey(bytes)
        #expect(throws: RatchetError.badKey) { try Curve.agree(Secret([UInt8](repeating: 77, count: 32)), key) }
    }

    @Test("keys that the vectors reject have no other form, or agree on nothing")
    func rejected() throws {
        for vector in Vectors.all.mapsRejected {
            let isOnTwist = vector.why.hasPrefix("not on the curve")
            // X25519 is made for both curves. Nobody can sign with such a key.
            #expect(throws: isOnTwist ? RatchetError.badSignature : .badKey, "\(vector.why)") {
                let identity = try PublicIdentity(edwards: vector.ed25519Pub.bytes)
                _ = try Curve.agree(Secret([UInt8](repeating: 77, count: 32)), identity.key)
                let zeros = [UInt8](repeating: 0, count: 64)
                guard try identity.hasSigned([], zeros, .omemo2) else { throw RatchetError.badSignature }
            }
        }
    }

    @Test("signatures: XEdDSA, libsignal's with the sign in the top bit, and RFC 8032", arguments: 0..<56)
    func signatures(_ index: Int) throws {
        let vector = Vectors.all.signatures[index]
        let (message, signature) = (vector.message.bytes, vector.signature.bytes)
        let byEdwards = try PublicIdentity(edwards: vector.ed25519Pub.bytes)
        if vector.kind != "libsignal" {
            #expect(try byEdwards.hasSigned(message, signature, .omemo2) == vector.valid)
        }
        // In 0.3 only u is known: signers have the sign 0, or say the sign.
        guard vector.kind == "libsignal" || vector.ed25519Pub.bytes[31] & 0x80 == 0 else { return }
        let identity = try PublicIdentity(PublicKey(vector.x25519Pub.bytes))
        #expect(try identity.hasSigned(message, signature, .axolotl) == vector.valid)
    }

    @Test("our signatures verify in both formats, and only there")
    func own() throws {
        let identity = try Identity.make()
        let prekey = try KeyPair.make().key
        for dialect in OMEMOVersion.allCases {
            let signature = try identity.sign(prekey, dialect)
            #expect(signature[63] & 0x80 == 0)
            #expect(try identity.publicIdentity.hasSigned(dialect.encode(prekey), signature, dialect))
            let other: OMEMOVersion = dialect == .axolotl ? .omemo2 : .axolotl
            #expect(try !identity.publicIdentity.hasSigned(other.encode(prekey), signature, dialect))
            #expect(try !Identity.make().publicIdentity.hasSigned(dialect.encode(prekey), signature, dialect))
            #expect(try !identity.publicIdentity.hasSigned(dialect.encode(prekey), signature.dropLast(), dialect))
        }
    }

    @Test("a valid signature by a key of low order makes no session")
    func neutral() throws {
        // The neutral point verifies R = B·s for any message.
        let neutral = [1] + [UInt8](repeating: 0, count: 31)
        #expect(throws: RatchetError.badKey) { try PublicIdentity(edwards: neutral) }
        // u = 0 is y = −1, of order 2.
        let order2 = try PublicIdentity(PublicKey([UInt8](repeating: 0, count: 32)))
        #expect(throws: RatchetError.badKey) { try Curve.agree(KeyPair.make().secret, order2.key) }
    }

    @Test("a bundle is read only with the right signature, small ids and canonical keys")
    func bundles() throws {
        for vector in Vectors.all.agreements {
            let (dialect, b) = (OMEMOVersion(vector.dialect), vector.b)
            func bundle(
                ik: [UInt8]? = nil, spk: [UInt8]? = nil, signature: [UInt8]? = nil, spkID: UInt32? = nil,
                pkID: UInt32? = nil, pk: [UInt8]? = nil
            ) throws -> Bundle {
                try Bundle(
                    dialect, identity: ik ?? b.ik.bytes, signedPrekey: (spkID ?? b.spkId, spk ?? b.spk.bytes),
                    signature: signature ?? b.spkSignature.bytes, prekey: (pkID ?? b.pkId, pk ?? b.pk.bytes))
            }
            #expect(try bundle().prekey.bytes == b.pk.bytes.suffix(32))
            var forged = b.spkSignature.bytes
            forged[5] ^= 1
            #expect(throws: RatchetError.badSignature) { try bundle(signature: forged) }
            #expect(throws: RatchetError.badSignature) { try bundle(signature: []) }
            #expect(throws: RatchetError.badSignature) { try bundle(spk: b.pk.bytes) }
            #expect(throws: RatchetError.badSignature) { try bundle(ik: vector.a.ik.bytes) }
            #expect(throws: RatchetError.badKey) { try bundle(pk: b.pk.bytes.dropLast()) }
            #expect(throws: RatchetError.badKey) { try bundle(pk: b.pk.bytes + [0]) }
            #expect(throws: RatchetError.malformed("the id of a prekey")) { try bundle(spkID: 1 << 31) }
            #expect(throws: RatchetError.malformed("the id of a prekey")) { try bundle(pkID: .max) }
            guard dialect == .axolotl else { continue }
            // Another type of key than Curve25519.
            #expect(throws: RatchetError.badKey) { try bundle(pk: [6] + b.pk.bytes.dropFirst()) }
        }
    }

    @Test("a twin identity, with the other sign, is the same identity; a twin of u is refused wherever keys are read")
    func twins() throws {
        let identity = try Identity.make().publicIdentity
        var edwards = identity.edwards
        edwards[31] |= 0x80
        let twin = try OMEMOVersion.omemo2.identity(edwards)
        #expect(twin.key == identity.key, "fingerprint and trust are of the Curve25519 form")
        #expect(twin.edwards == edwards, "the associated data has the sign as it came")
        var u = identity.key.bytes
        u[31] |= 0x80
        #expect(throws: RatchetError.badKey) { try OMEMOVersion.axolotl.identity([0x05] + u) }
        for dialect in OMEMOVersion.allCases {
            #expect(throws: RatchetError.badKey) { try dialect.key((dialect == .axolotl ? [0x05] : []) + u) }
        }
    }

    @Test("libsignal's signature with the top bit set verifies with the sign, and only in 0.3")
    func topBit() throws {
        var seen = 0
        for vector in Vectors.all.signatures where vector.kind == "libsignal" && vector.valid {
            let (message, signature) = (vector.message.bytes, vector.signature.bytes)
            guard signature[63] & 0x80 != 0 else { continue }
            seen += 1
            let identity = try PublicIdentity(PublicKey(vector.x25519Pub.bytes))
            #expect(try identity.hasSigned(message, signature, .axolotl))
            var without = signature
            without[63] &= 0x7f
            #expect(try !identity.hasSigned(message, without, .axolotl), "another key has the sign 0")
            let byEdwards = try PublicIdentity(edwards: vector.ed25519Pub.bytes)
            #expect(try !byEdwards.hasSigned(message, signature, .omemo2), "RFC 8032: the scalar is below the order")
            #expect(try byEdwards.hasSigned(message, without, .omemo2))
        }
        #expect(seen > 0)
    }

    @Test("an identity of low order with a signature that verifies begins no session", arguments: OMEMOVersion.allCases)
    func lowOrderSigner(_ dialect: OMEMOVersion) throws {
        // y = −1 is of order 2: R neutral and S = 0 verify for every second message.
        let lowOrder = Self.number(0xec)
        let identity = dialect == .axolotl ? [0x05] + [UInt8](repeating: 0, count: 32) : lowOrder
        let signature = [1] + [UInt8](repeating: 0, count: 63)
        var begun = 0
        for _ in 0..<40 {
            let signed = dialect.encode(try KeyPair.make().key)
            guard
                let bundle = try? Bundle(
                    dialect, identity: identity, signedPrekey: (1, signed), signature: signature, prekey: (1, signed))
            else { continue }
            begun += 1
            #expect(throws: RatchetError.badKey) { try Session.begin(.make(), bundle, dialect) }
        }
        #expect(begun > 0, "libcrypto takes such signatures: if not, this test says nothing")
    }

    @Test("a bundle whose prekeys are of low order begins no session", arguments: OMEMOVersion.allCases)
    func lowOrderPrekeys(_ dialect: OMEMOVersion) throws {
        let (owner, good) = (try Identity.make(), try KeyPair.make().key)
        for bytes in Self.lowOrder {
            let key = try PublicKey(bytes)
            for (signed, prekey) in [(key, good), (good, key)] {
                let bundle = try Bundle(
                    dialect, identity: dialect.encode(owner.publicIdentity), signedPrekey: (1, dialect.encode(signed)),
                    signature: owner.sign(signed, dialect), prekey: (1, dialect.encode(prekey)))
                #expect(throws: RatchetError.badKey) { try Session.begin(.make(), bundle, dialect) }
            }
        }
    }

    @Test("a signature has 64 bytes, also if the last is zero", arguments: OMEMOVersion.allCases)
    func signatureLength(_ dialect: OMEMOVersion) throws {
        let identity = try Identity.make()
        for _ in 0..<400 {
            let prekey = try KeyPair.make().key
            let (signed, signature) = (dialect.encode(prekey), try identity.sign(prekey, dialect))
            guard signature[63] == 0 else { continue }
            #expect(try identity.publicIdentity.hasSigned(signed, signature, dialect))
            #expect(try !identity.publicIdentity.hasSigned(signed, signature.dropLast(), dialect))
            #expect(try !identity.publicIdentity.hasSigned(signed, signature + [0], dialect))
            return
        }
        Issue.record("no signature ended with a zero: one in sixteen does")
    }
}
