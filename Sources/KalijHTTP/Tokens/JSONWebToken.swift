import KalijText

import FoundationEssentials

/// A signed JSON Web Token (RFC 7519) in its compact form.
public enum JSONWebToken {
    /// Signs claims.
    /// - Parameters:
    ///   - claims: the content of the token.
    ///   - keyID: `kid` of the header; nil for none.
    /// - Returns: header, claims and signature, in base64url without padding (RFC 7515, 7.1).
    /// - Throws: `SigningKey.Problem`, or the error of encoding the claims.
    public static func sign(_ claims: some Encodable, with key: SigningKey, keyID: String?) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = try encoder.encode(Header(alg: key.algorithm.rawValue, kid: keyID))
        return try compact(Array(header), Array(try encoder.encode(claims)), key)
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
