import Testing

@testable import KalijRatchet

@Suite struct AgreementTests {
    /// An exchange with these keys, and any message.
    static func exchange(
        _ dialect: OMEMOVersion, prekey: UInt32?, signedPrekey: UInt32, ik: [UInt8], ek: [UInt8], message: [UInt8]
    ) -> [UInt8] {
        let id = prekey.map { Protobuf.number(1, $0) } ?? []
        return switch dialect {
        case .axolotl:
            [0x33] + id + Protobuf.bytes(2, ek) + Protobuf.bytes(3, ik) + Protobuf.bytes(4, message)
                + Protobuf.number(6, signedPrekey)
        case .omemo2:
            id + Protobuf.number(2, signedPrekey) + Protobuf.bytes(3, ik) + Protobuf.bytes(4, ek)
                + Protobuf.bytes(5, message)
        }
    }

    private static func message(_ dialect: OMEMOVersion) throws -> [UInt8] {
        let header = RatchetMessage.Header(key: try KeyPair.make().key, number: 0, previous: 0)
        let covered = RatchetMessage.authenticated(header, [UInt8](repeating: 1, count: 16), dialect)
        return RatchetMessage.bytes(covered, mac: [UInt8](repeating: 2, count: dialect.macCount), dialect)
    }

    @Test("both sides come to the secret of the vectors", arguments: 0..<12)
    func agreements(_ index: Int) throws {
        let vector = Vectors.all.agreements[index]
        let (dialect, a, b) = (OMEMOVersion(vector.dialect), vector.a, vector.b)
        // Peers may have the other sign; ours is 0.
        if let ours = try? Identity(seed: Secret(a.seed.bytes)) {
            let bundle = try Bundle(
                dialect, identity: b.ik.bytes, signedPrekey: (b.spkId, b.spk.bytes), signature: b.spkSignature.bytes,
                prekey: (b.pkId, b.pk.bytes))
            #expect(
                try Agreement.initiate(ours, ephemeral: Secret(a.ekPriv.bytes), bundle, dialect).exported
                    == vector.sk.bytes)
        }
        guard let ours = try? Identity(seed: Secret(b.seed.bytes)) else { return }
        let exchange = try KeyExchange(
            Self.exchange(
                dialect, prekey: b.pkId, signedPrekey: b.spkId, ik: a.ik.bytes, ek: a.ek.bytes,
                message: Self.message(dialect)), dialect)
        #expect(
            try Agreement.respond(
                ours, signedPrekey: Secret(b.spkPriv.bytes), prekey: Secret(b.pkPriv.bytes), exchange, dialect
            ).exported == vector.sk.bytes)
        let session = try Session.accept(
            exchange, ours, signedPrekey: KeyPair(secret: Secret(b.spkPriv.bytes)), prekey: Secret(b.pkPriv.bytes),
            dialect)
        #expect(session.associated(from: session.theirs, to: session.ours) == vector.ad.bytes)
    }

    @Test("a key exchange without a prekey is refused", arguments: OMEMOVersion.allCases)
    func withoutPrekey(_ dialect: OMEMOVersion) throws {
        let identity = try Identity.make()
        let bytes = Self.exchange(
            dialect, prekey: nil, signedPrekey: 1, ik: dialect.encode(identity.publicIdentity),
            ek: dialect.encode(try KeyPair.make().key), message: try Self.message(dialect))
        #expect(throws: RatchetError.withoutPrekey) { try KeyExchange(bytes, dialect) }
    }

    @Test("a key exchange with a key of low order makes no session", arguments: OMEMOVersion.allCases)
    func lowOrder(_ dialect: OMEMOVersion) throws {
        let (ours, theirs) = (try Identity.make(), try Identity.make())
        for bytes in KeyTests.lowOrder {
            let key = try PublicKey(bytes)
            let exchange = try KeyExchange(
                Self.exchange(
                    dialect, prekey: 1, signedPrekey: 1, ik: dialect.encode(theirs.publicIdentity),
                    ek: dialect.encode(key), message: Self.message(dialect)), dialect)
            #expect(throws: RatchetError.badKey) {
                try Session.accept(exchange, ours, signedPrekey: .make(), prekey: KeyPair.make().secret, dialect)
            }
        }
    }

    @Test("an exchange names both prekeys", arguments: OMEMOVersion.allCases)
    func ids(_ dialect: OMEMOVersion) throws {
        let identity = dialect.encode(try Identity.make().publicIdentity)
        let bytes = Self.exchange(
            dialect, prekey: 5, signedPrekey: 77, ik: identity, ek: dialect.encode(try KeyPair.make().key),
            message: try Self.message(dialect))
        let exchange = try KeyExchange(bytes, dialect)
        #expect((exchange.prekeyID, exchange.signedPrekeyID) == (5, 77))
        let signedPrekey = Protobuf.number(dialect == .axolotl ? 6 : 2, 77)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: signedPrekey) })
        let without = bytes[..<start] + bytes[(start + signedPrekey.count)...]
        #expect(throws: RatchetError.self) { try KeyExchange(without, dialect) }
    }
}
