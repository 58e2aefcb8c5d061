/// X3DH (section 3.3): the secret that both sides compute.
enum Agreement {
    /// The side that begins.
    /// - Throws: `RatchetError.badKey` if a key of the bundle is of low order.
    static func initiate(_ identity: Identity, ephemeral: Secret, _ bundle: Bundle, _ dialect: OMEMOVersion) throws
        -> Secret
    {
        try secret(
            [
                Curve.agree(identity.pair.secret, bundle.signedPrekey), Curve.agree(ephemeral, bundle.identity.key),
                Curve.agree(ephemeral, bundle.signedPrekey), Curve.agree(ephemeral, bundle.prekey),
            ], dialect)
    }

    /// The side whose bundle was used.
    static func respond(
        _ identity: Identity, signedPrekey: Secret, prekey: Secret, _ exchange: KeyExchange, _ dialect: OMEMOVersion
    ) throws -> Secret {
        try secret(
            [
                Curve.agree(signedPrekey, exchange.identity.key), Curve.agree(identity.pair.secret, exchange.ephemeral),
                Curve.agree(signedPrekey, exchange.ephemeral), Curve.agree(prekey, exchange.ephemeral),
            ], dialect)
    }

    private static func secret(_ agreed: [Secret], _ dialect: OMEMOVersion) throws -> Secret {
        let input = Secret(count: 32 * (agreed.count + 1)) { input in
            input[..<32].copyBytes(from: repeatElement(0xff, count: 32))
            for (index, secret) in agreed.enumerated() {
                secret.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: input[(32 * (index + 1))...]).copyMemory(from: $0)
                }
            }
        }
        return try Hash.expand(input, info: dialect.agreementInfo, count: 32)
    }
}
