import COpenSSL

/// Keys derived from a secret: HKDF (RFC 5869) with HMAC-SHA256.
enum Derivation {
    /// A secret is too short, or OpenSSL fails.
    struct Problem: Error {}

    /// - Parameters:
    ///   - secret: at least 32 bytes.
    ///   - purpose: this program's own words; other words make another key.
    /// - Returns: 32 bytes.
    /// - Throws: ``Problem``.
    static func key(_ secret: [UInt8], for purpose: String) throws(Problem) -> [UInt8] {
        guard secret.count >= 32 else { throw Problem() }
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil)
        defer { EVP_PKEY_CTX_free(context) }
        let info = Array(purpose.utf8)
        var key = [UInt8](repeating: 0, count: 32)
        var size = key.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
            EVP_PKEY_CTX_set1_hkdf_key(context, secret, Int32(clamping: secret.count)) == 1,
            EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(clamping: info.count)) == 1,
            EVP_PKEY_derive(context, &key, &size) == 1, size == 32
        else { throw Problem() }
        return key
    }
}
