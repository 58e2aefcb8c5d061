/// A message of the ratchet: the header in plain bytes, the sealed content, and the MAC.
public struct RatchetMessage: Sendable {
    public struct Header: Hashable, Sendable {
        /// The sender's ratchet key.
        public let key: PublicKey
        /// The number of the message in its chain.
        public let number: UInt32
        /// How many messages the chain before had.
        public let previous: UInt32
    }

    public let header: Header
    let sealed: ArraySlice<UInt8>
    /// The bytes under the MAC, as received.
    let authenticated: ArraySlice<UInt8>
    let mac: ArraySlice<UInt8>

    /// - Throws: `RatchetError.malformed`, `badKey`.
    public init(_ bytes: some Collection<UInt8>, _ dialect: OMEMOVersion) throws {
        let all = Array(bytes)[...]
        let fields: Protobuf.Fields
        switch dialect {
        case .axolotl:
            guard all.first == OMEMOVersion.version, all.count > dialect.macCount else {
                throw RatchetError.malformed("the version of a message")
            }
            (authenticated, mac) = (all.dropLast(dialect.macCount), all.suffix(dialect.macCount))
            fields = try Protobuf.Fields(authenticated.dropFirst())
            header = Header(
                key: try dialect.key(fields.bytes(1)), number: try fields.required(2), previous: try fields.required(3))
        case .omemo2:
            let outer = try Protobuf.Fields(all)
            (mac, authenticated) = (try outer.bytes(1), try outer.bytes(2))
            fields = try Protobuf.Fields(authenticated)
            header = Header(
                key: try dialect.key(fields.bytes(3)), number: try fields.required(1), previous: try fields.required(2))
        }
        sealed = try fields.bytes(4)
        guard mac.count == dialect.macCount else { throw RatchetError.malformed("the MAC") }
    }

    /// The bytes under the MAC of a new message.
    static func authenticated(_ header: Header, _ sealed: [UInt8], _ dialect: OMEMOVersion) -> [UInt8] {
        let key = dialect.encode(header.key)
        switch dialect {
        case .axolotl:
            return [OMEMOVersion.version] + Protobuf.bytes(1, key) + Protobuf.number(2, header.number)
                + Protobuf.number(3, header.previous) + Protobuf.bytes(4, sealed)
        case .omemo2:
            return Protobuf.number(1, header.number) + Protobuf.number(2, header.previous) + Protobuf.bytes(3, key)
                + Protobuf.bytes(4, sealed)
        }
    }

    /// A whole message.
    static func bytes(_ authenticated: [UInt8], mac: [UInt8], _ dialect: OMEMOVersion) -> [UInt8] {
        switch dialect {
        case .axolotl: authenticated + mac
        case .omemo2: Protobuf.bytes(1, mac) + Protobuf.bytes(2, authenticated)
        }
    }
}
