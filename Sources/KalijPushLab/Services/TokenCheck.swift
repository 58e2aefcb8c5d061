import COpenSSL
import Glibc

import FoundationEssentials

/// Verifies the signed tokens of a push service's clients, with the public key alone.
///
/// @unchecked because of the pointer: OpenSSL counts its uses atomically, and the key is not changed after init.
final class TokenCheck: @unchecked Sendable {
    private let key: OpaquePointer
    private let algorithm: String

    /// - Parameter publicKey: a PEM file.
    init(publicKey path: String, algorithm: String) throws {
        let bio = BIO_new_file(path, "r")
        defer { BIO_free(bio) }
        guard let bio, let key = PEM_read_bio_PUBKEY(bio, nil, nil, nil) else { throw LabError("cannot read \(path)") }
        self.key = key
        self.algorithm = algorithm
    }

    deinit { EVP_PKEY_free(key) }

    /// The claims and the header of a token with a valid signature; nil for any other token.
    func claims(of token: String) -> (header: [String: Any], claims: [String: Any])? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
            header["alg"] as? String == algorithm, let signature = Self.decode(parts[2])
        else { return nil }
        let bytes = algorithm == "ES256" ? Self.encoded(Array(signature)) : Array(signature)
        let message = Array((parts[0] + "." + parts[1]).utf8)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestVerify(context, bytes, bytes.count, message, message.count) == 1
        else {
            ERR_clear_error()
            return nil
        }
        return (header, claims)
    }

    private func object(_ part: String) -> [String: Any]? {
        struct Anything: Decodable {
            var iss: String?
            var aud: String?
            var sub: String?
            var iat: Int64?
            var exp: Int64?
            var alg: String?
            var kid: String?
            var scope: String?
        }
        guard let data = Self.decode(part), let read = try? JSONDecoder().decode(Anything.self, from: data) else {
            return nil
        }
        var all: [String: Any] = [:]
        let texts = [
            "iss": read.iss, "aud": read.aud, "sub": read.sub, "alg": read.alg, "kid": read.kid, "scope": read.scope,
        ]
        for (name, value) in texts { all[name] = value }
        all["iat"] = read.iat
        all["exp"] = read.exp
        return all
    }

    private static func decode(_ part: String) -> Data? {
        let plain = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    /// The two numbers of an ES256 signature in OpenSSL's form.
    private static func encoded(_ plain: [UInt8]) -> [UInt8] {
        guard plain.count == 64 else { return [] }
        let signature = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(signature) }
        // The signature owns both numbers from here on.
        guard ECDSA_SIG_set0(signature, BN_bin2bn(plain, 32, nil), BN_bin2bn(Array(plain[32...]), 32, nil)) == 1 else {
            return []
        }
        var start: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_ECDSA_SIG(signature, &start))
        guard count > 0, let start else { return [] }
        // OpenSSL has allocated `count` bytes, copied and freed here.
        defer { CRYPTO_free(start, "", 0) }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}
