/// The client's side of SASL-HT with SHA-256 (draft-schmaus-kitten-sasl-ht): the first message contains the proof.
///
/// Always bound to the connection: a recorded proof of the variant without binding could be replayed.
struct HashedToken: Sendable {
    let token: FASTToken
    private let username: String
    private let binding: [UInt8]

    /// The mechanism for which tokens are requested.
    static let requestedMechanism = "HT-SHA-256-EXPR"
    private static let endPointMechanism = "HT-SHA-256-ENDP"

    /// Nil if the token's mechanism must not be used on this connection. The server's end point is used only if the connection has no
    /// exporter.
    init?(_ token: FASTToken, username: String, bindings: ChannelBindings) {
        let exporter = bindings[.tlsExporter]
        switch token.mechanism {
        case Self.requestedMechanism:
            guard let exporter else { return nil }
            binding = exporter
        case Self.endPointMechanism:
            guard exporter == nil, let endPoint = bindings[.tlsServerEndPoint] else { return nil }
            binding = endPoint
        default: return nil
        }
        (self.token, self.username) = (token, username)
    }

    /// `authcid NUL HMAC(token, "Initiator" || cb-data)`
    func firstMessage() throws(AuthenticationError) -> [UInt8] {
        Array(username.utf8) + [0] + (try mac("Initiator"))
    }

    /// Verifies `HMAC(token, "Responder"
    /// cb-data)`, by which the server proves that it has the token.
    func verify(_ answer: [UInt8]) throws(AuthenticationError) {
        guard !answer.isEmpty else { throw .missingServerSignature }
        guard HashFunction.areEqual(answer, try mac("Responder")) else { throw .wrongServerSignature }
    }

    private func mac(_ role: String) throws(AuthenticationError) -> [UInt8] {
        try HashFunction.sha256.authenticate(Array(role.utf8) + binding, key: Array(token.secret.utf8))
    }
}
