/// A session as the bytes of a row. The bytes hold keys.
extension Session {
    private static let version: UInt32 = 1

    public var stored: [UInt8] {
        var bytes = Protobuf.number(1, Self.version)
        bytes += Protobuf.number(2, UInt32(dialect.rawValue))  // fits: 2 or 3
        bytes += Protobuf.number(3, (isInitiator ? 1 : 0) | (isAnswered ? 2 : 0))
        bytes += Protobuf.bytes(4, ours.edwards) + Protobuf.bytes(5, theirs.edwards)
        bytes += Protobuf.number(6, exchange.prekeyID) + Protobuf.number(7, exchange.signedPrekeyID)
        bytes += Protobuf.bytes(8, exchange.ephemeral.bytes)
        bytes += Protobuf.bytes(9, root.exported)
        bytes += Protobuf.bytes(10, pair.secret.exported) + Protobuf.bytes(11, pair.key.bytes)
        bytes += Protobuf.number(12, previous)
        if let remote { bytes += Protobuf.bytes(13, remote.bytes) }
        if let sending { bytes += Protobuf.bytes(14, sending.key.exported) + Protobuf.number(15, sending.number) }
        if let receiving { bytes += Protobuf.bytes(16, receiving.key.exported) + Protobuf.number(17, receiving.number) }
        // Both forms of the identities: the map between them takes longer than reading a message.
        return bytes + Protobuf.bytes(18, ours.key.bytes) + Protobuf.bytes(19, theirs.key.bytes)
    }

    /// - Throws: `RatchetError.malformed`, `badKey` for a damaged row.
    public init(stored: [UInt8]) throws {
        let fields = try Protobuf.Fields(stored[...])
        guard try fields.required(1) == Self.version, let dialect = OMEMOVersion(rawValue: Int(try fields.required(2)))
        else {
            throw RatchetError.malformed("the version of a stored session")
        }
        func secret(_ field: UInt64) throws -> Secret {
            let bytes = try fields.bytes(field)
            guard bytes.count == 32 else { throw RatchetError.malformed("a stored key") }
            return Secret(bytes)
        }
        func chain(_ field: UInt64) throws -> Chain? {
            guard let number = try fields.number(field + 1) else { return nil }
            return Chain(key: try secret(field), number: number)
        }
        func identity(_ edwards: UInt64, _ key: UInt64) throws -> PublicIdentity {
            PublicIdentity(try PublicKey(fields.bytes(key)), storedAs: Array(try fields.bytes(edwards)))
        }
        let flags = try fields.required(3)
        self.init(
            dialect: dialect, isInitiator: flags & 1 != 0, ours: try identity(4, 18),
            theirs: try identity(5, 19),
            exchange: Exchange(
                prekeyID: try fields.required(6), signedPrekeyID: try fields.required(7),
                ephemeral: try PublicKey(fields.bytes(8))),
            isAnswered: flags & 2 != 0, root: try secret(9),
            pair: KeyPair(secret: try secret(10), key: try PublicKey(fields.bytes(11))),
            remote: fields.has(13) ? try PublicKey(fields.bytes(13)) : nil, sending: try chain(14),
            receiving: try chain(16), previous: try fields.required(12))
    }
}
