extension KeyExchange {
    /// The bytes of the exchange that begins a session.
    static func bytes(
        _ exchange: Session.Exchange, _ identity: PublicIdentity, _ message: [UInt8], _ dialect: OMEMOVersion
    ) -> [UInt8] {
        let (ik, ek) = (dialect.encode(identity), dialect.encode(exchange.ephemeral))
        switch dialect {
        case .axolotl:
            return [OMEMOVersion.version] + Protobuf.number(1, exchange.prekeyID) + Protobuf.bytes(2, ek)
                + Protobuf.bytes(3, ik) + Protobuf.bytes(4, message) + Protobuf.number(6, exchange.signedPrekeyID)
        case .omemo2:
            return Protobuf.number(1, exchange.prekeyID) + Protobuf.number(2, exchange.signedPrekeyID)
                + Protobuf.bytes(3, ik) + Protobuf.bytes(4, ek) + Protobuf.bytes(5, message)
        }
    }
}
