/// The first messages of a session: a message of the ratchet, with what the other side needs for the agreement.
public struct KeyExchange: Sendable {
    public let prekeyID: UInt32
    public let signedPrekeyID: UInt32
    /// Of the device that begins the session.
    public let identity: PublicIdentity
    public let ephemeral: PublicKey
    /// The message of the ratchet.
    public let message: RatchetMessage

    /// - Throws: `RatchetError.malformed`, `badKey`, `withoutPrekey`.
    public init(_ bytes: some Collection<UInt8>, _ dialect: OMEMOVersion) throws {
        var all = Array(bytes)[...]
        if dialect == .axolotl {
            guard all.popFirst() == OMEMOVersion.version else {
                throw RatchetError.malformed("the version of a key exchange")
            }
        }
        let fields = try Protobuf.Fields(all)
        guard let prekeyID = try fields.number(1) else { throw RatchetError.withoutPrekey }
        self.prekeyID = prekeyID
        switch dialect {
        case .axolotl:
            ephemeral = try dialect.key(fields.bytes(2))
            identity = try dialect.identity(fields.bytes(3))
            message = try RatchetMessage(fields.bytes(4), dialect)
            signedPrekeyID = try fields.required(6)
        case .omemo2:
            signedPrekeyID = try fields.required(2)
            identity = try dialect.identity(fields.bytes(3))
            ephemeral = try dialect.key(fields.bytes(4))
            message = try RatchetMessage(fields.bytes(5), dialect)
        }
    }
}
