import FoundationEssentials
import KalijText

/// A signed JSON Web Token (RFC 7519) in its compact form.
public enum JSONWebToken {
    /// Signs claims.
    /// - Parameters:
    ///   - claims: the content of the token.
    ///   - keyID: `kid` of the header; nil for none.
    /// - Returns: header, claims and signature, in base64url without padding (RFC 7515, 7.1).
    /// - Throws: `SigningKey.Problem`, or the error of encoding the claims.
    public static func sign(_ claims: some Encodable, with key: SigningKey, keyID: String?) throws -> String {
        try compact(encoded(Header(alg: key.algorithm.rawValue, kid: keyID)), encoded(claims), key)
    }

    /// JSON with sorted keys.
    static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Header, claims and signature of bytes of JSON.
    static func compact(_ header: [UInt8], _ claims: [UInt8], _ key: SigningKey) throws(SigningKey.Problem) -> String {
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(claims)
        return signed + "." + Base64URL.encode(try key.signature(of: Array(signed.utf8)))
    }

    private struct Header: Encodable {
        var alg: String
        var kid: String?
        var typ = "JWT"
    }
}
