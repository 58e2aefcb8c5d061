import KalijText

/// Identifies the sender to a push service (RFC 8292): a signed token for one service, and the sender's public key.
public enum VAPIDToken {
    private struct Claims: Encodable {
        var aud: String
        var exp: Int64
        var sub: String?
    }

    /// The value of `authorization` for a request to a push service.
    /// - Parameters:
    ///   - audience: the service's origin: scheme, host, and the port if it is not the usual one.
    ///   - expires: in seconds since 1970, a day from now at most.
    ///   - contact: a `mailto:` or `https:` address for the service's operator; nil for none.
    ///   - key: on P-256.
    /// - Throws: `SigningKey.Problem`, or the error of encoding the claims.
    public static func authorization(
        audience: String, expires: Int64, contact: String?, key: SigningKey
    ) throws -> String {
        guard let point = key.publicPoint else { throw SigningKey.Problem.unsuitable }
        let token = try JSONWebToken.compact(
            header, claims(audience: audience, expires: expires, contact: contact), key)
        return "vapid t=\(token),k=\(Base64URL.encode(point))"
    }

    /// The header in the bytes of RFC 8292's example.
    static let header = Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8)

    static func claims(audience: String, expires: Int64, contact: String?) throws -> [UInt8] {
        try JSONWebToken.encoded(Claims(aud: audience, exp: expires, sub: contact))
    }
}
