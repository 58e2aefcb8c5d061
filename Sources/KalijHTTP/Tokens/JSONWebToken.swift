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
        let signed = base64URL(header) + "." + base64URL(try encoder.encode(claims))
        return signed + "." + base64URL(Data(try key.signature(of: Array(signed.utf8))))
    }

    private struct Header: Encodable {
        var alg: String
        var kid: String?
        var typ = "JWT"
    }

    private static func base64URL(_ data: Data) -> String {
        String(
            data.base64EncodedString().prefix { $0 != "=" }.map { character in
                character == "+" ? "-" : character == "/" ? "_" : character
            })
    }
}
