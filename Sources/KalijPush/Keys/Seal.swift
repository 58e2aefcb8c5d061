import COpenSSL

/// Seals and opens what must not be readable elsewhere: AES-256-GCM.
public struct Seal: Sendable {
    private let key: [UInt8]

    /// A secret is too short, or OpenSSL fails.
    public struct Problem: Error, Sendable {}

    /// The seal of rows on this server's disk; the key is derived from the server's secret.
    /// - Parameter secret: at least 32 bytes.
    /// - Throws: ``Problem``.
    public init(secret: [UInt8]) throws(Problem) { try self.init(secret: secret, purpose: "kalij-push sealed row 1") }

    init(secret: [UInt8], purpose: String) throws(Problem) {
        guard let key = try? Derivation.key(secret, for: purpose) else { throw Problem() }
        self.key = key
    }

    /// 12 random bytes, the text in cipher, 16 bytes of authentication.
    /// - Parameter about: has to be the same when the text is opened.
    public func seal(_ plain: [UInt8], about: [UInt8] = []) throws(Problem) -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: 12)
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: plain.count + 16)
        var tag = [UInt8](repeating: 0, count: 16)
        var count: Int32 = 0
        var last: Int32 = 0
        guard RAND_bytes(&nonce, 12) == 1,
            EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            about.isEmpty || EVP_EncryptUpdate(context, nil, &count, about, Int32(clamping: about.count)) == 1,
            EVP_EncryptUpdate(context, &output, &count, plain, Int32(clamping: plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &last) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
        else { throw Problem() }
        return nonce + output.prefix(Int(count)) + tag
    }

    /// The plain bytes; nil if they were not sealed with this key and about the same, or were changed.
    public func open(_ sealed: some Collection<UInt8>, about: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= 28 else { return nil }
        let nonce = Array(sealed.prefix(12))
        let cipher = Array(sealed.dropFirst(12).dropLast(16))
        var tag = Array(sealed.suffix(16))
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: cipher.count + 16)
        var count: Int32 = 0
        var last: Int32 = 0
        var rest = [UInt8](repeating: 0, count: 16)
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            about.isEmpty || EVP_DecryptUpdate(context, nil, &count, about, Int32(clamping: about.count)) == 1,
            EVP_DecryptUpdate(context, &output, &count, cipher, Int32(clamping: cipher.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
            EVP_DecryptFinal_ex(context, &rest, &last) == 1
        else {
            ERR_clear_error()
            return nil
        }
        return Array(output.prefix(Int(count)))
    }
}
