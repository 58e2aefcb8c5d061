import KalijRatchet

/// A device whose keys are known, so that the corpus has messages for it: the first conversation of each format in
/// `ratchet-vectors.json`, in which a begins.
struct RatchetFixture {
    let dialect: OMEMOVersion
    /// b.
    let identity: Identity
    /// a.
    let other: Identity
    private let signedPrekey: KeyPair
    private let prekey: KeyPair
    private let ids: (signedPrekey: UInt32, prekey: UInt32)
    /// b's session, with a's first message read.
    let session: Session

    // A fixture that cannot be read is nil, and found by the first input.
    static let all: [OMEMOVersion: RatchetFixture] = {
        let pairs = OMEMOVersion.allCases.compactMap { dialect in (try? RatchetFixture(dialect)).map { (dialect, $0) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    private init(_ dialect: OMEMOVersion) throws {
        let known = dialect == .axolotl ? Self.axolotl : Self.omemo2
        func secret(_ index: Int) -> Secret { Secret(Self.bytes(known.secrets[index])) }
        self.dialect = dialect
        (identity, other) = (try Identity(seed: secret(0)), try Identity(seed: secret(1)))
        (signedPrekey, prekey) = (try KeyPair(secret: secret(2)), try KeyPair(secret: secret(3)))
        ids = known.ids
        let exchange = try KeyExchange(Self.bytes(known.first), dialect)
        let begun = try Session.accept(exchange, identity, signedPrekey: signedPrekey, prekey: prekey.secret, dialect)
        session = try begun.open(exchange.message) { _ in nil }.session
    }

    /// b's bundle.
    var bundle: Bundle? {
        let edwards = identity.publicIdentity.edwards
        let (type, key) = (dialect == .axolotl ? [0x05] : [] as [UInt8], identity.publicIdentity.key.bytes)
        return try? Bundle(
            dialect, identity: dialect == .axolotl ? type + key : edwards,
            signedPrekey: (ids.signedPrekey, type + signedPrekey.key.bytes),
            signature: identity.sign(signedPrekey.key, dialect), prekey: (ids.prekey, type + prekey.key.bytes))
    }

    /// b reads a key exchange, whichever prekeys it names.
    func accept(_ exchange: KeyExchange, _ reader: inout Reader) throws {
        if let session = reader.session, session.isOf(exchange) {
            try reader.read(exchange.message)
            return
        }
        func accepted() throws -> Session {
            try Session.accept(exchange, identity, signedPrekey: signedPrekey, prekey: prekey.secret, dialect)
        }
        do {
            let (session, again) = (try accepted(), try accepted())
            try require(session.stored == again.stored, "the same exchange made two sessions")
            var fresh = Reader(nil)
            if try fresh.read(exchange.message, in: session) != nil, let session = fresh.session {
                reader.take(session)
            }
        } catch is RatchetError { return }
    }

    /// - Returns: the content, if it was read.
    func deliver(_ bytes: [UInt8], _ reader: inout Reader, isResponder: Bool) throws -> [UInt8]? {
        guard let kind = bytes.first else { return nil }
        do {
            guard kind & 1 == 1 else {
                return try reader.read(RatchetMessage(bytes.dropFirst(), dialect))?.content.exported
            }
            let exchange = try KeyExchange(bytes.dropFirst(), dialect)
            if let session = reader.session, session.isOf(exchange) {
                return try reader.read(exchange.message)?.content.exported
            }
            guard isResponder, reader.session == nil else { return nil }
            let session = try Session.accept(
                exchange, identity, signedPrekey: signedPrekey, prekey: prekey.secret, dialect)
            return try reader.read(exchange.message, in: session)?.content.exported
        } catch is RatchetError { return nil }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.utf8.map { UInt8($0 > 57 ? $0 - 87 : $0 - 48) }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    // MARK: The keys

    private struct Known {
        /// b's and a's seeds, the signed prekey and the prekey.
        let secrets: [String]
        let ids: (signedPrekey: UInt32, prekey: UInt32)
        let first: String
    }

    private static let axolotl = Known(
        secrets: [
            "8ba8a59bc2c6d81047bdea2d9e13ab09c70c2f9ca794ef96ef3cfc2d8c97271a",
            "71c5fdd270c30493df73f69c82cd7f31700aeca0533be717027ba1784b966471",
            "ccec22de6f7429ef8096c24c04778b6732b9c2714a6b4f74b808d73c6a68872d",
            "ae7a0f519100f1ec08b035c42720de07ba9d86032121f9aaff108bd825b610a9",
        ],
        ids: (255, 12349),
        first:
            "3308bd601221055f67b5a36617fbc9740fac17cb601ed3e706770fa4c210885a5a2f1cf807d04d1a210590812a190558"
            + "f28f9fd1c13de17b58090904dfabf8f2bb3b8b368be7aced6d342262330a21057647fdbedab350885d63abbc3a6ffa14"
            + "d3d50c46af09337b51236fbd6bb88f5f100018002230512041f2f1e57bc4a494a40b053b965d116c0b51ccccf28ac389"
            + "29f55285fb8d7211b3f5df763b7e93360707f71e80548dd0cb9f2d323ca530ff01"
    )

    private static let omemo2 = Known(
        secrets: [
            "7d15fc3496cd676dcdaac07679149a67b9d24cc8e12cae462e697df919a642c0",
            "a15e4b9f5ad2a54afacb90606076fbd1aa8fe0f9f41b21b4774298a9a962b949",
            "5e5d472aa401dca9f92e93ef6562b34d523f7f9777b22633a3c297ec2137b945",
            "e49d897b5284a343f0556dfd6594d222fa9b3d78a8a0e81ad8376f694f58203f",
        ],
        ids: (138, 2847),
        first:
            "089f16108a011a20f479eb8fbd8f1206898fff388b78603d014c5ecda58c6163584bc0e0460b2039222081781bc7b385"
            + "5b08e99803071cfc49123b4b46d524c5965c74b61d27793fdc172a7c0a10ed48696cadfc6665a24e4a2b11bdca9a1268"
            + "080010001a20c5d2e4b4945a9d20aa7326b84344288673618ce7e754e061d7263ef20cdc7e3b2240ab08984736f3b43a"
            + "102e57e7a4abbd812539fc4140a2cdaf6497cf66e90e94069cb0f7edef0bb5c203dd37f9e81a5d92e6c749777da774f2"
            + "42683d7d365e94c4"
    )
}
