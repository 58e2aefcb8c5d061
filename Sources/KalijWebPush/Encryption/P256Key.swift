import COpenSSL

/// A key pair on P-256.
///
/// @unchecked because of the pointer: OpenSSL counts its uses atomically, and the key is not changed after init.
public final class P256Key: @unchecked Sendable {
    /// OpenSSL has failed, or bytes are no key.
    public struct Problem: Error, Sendable {
        init() { ERR_clear_error() }
    }

    // Owned: freed in deinit.
    private let key: OpaquePointer
    /// The point in uncompressed form, 65 bytes.
    public let publicKey: [UInt8]

    /// Makes a key.
    /// - Throws: ``Problem``.
    public convenience init() throws(Problem) {
        guard let key = kalij_p256_generate() else { throw Problem() }
        try self.init(taking: key)
    }

    /// Takes a private key of 32 bytes with its public key.
    /// - Throws: ``Problem`` if `publicKey` is no point of the curve.
    public convenience init(privateKey: [UInt8], publicKey: [UInt8]) throws(Problem) {
        guard privateKey.count == 32, publicKey.count == 65,
            let key = kalij_p256_pair(privateKey, privateKey.count, publicKey, publicKey.count)
        else { throw Problem() }
        try self.init(taking: key)
    }

    private init(taking key: OpaquePointer) throws(Problem) {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key, &bytes)
        // Allocated by OpenSSL with `count` bytes, copied and freed here.
        defer { CRYPTO_free(bytes, "", 0) }
        guard count == 65, let bytes else {
            EVP_PKEY_free(key)
            throw Problem()
        }
        publicKey = Array(UnsafeBufferPointer(start: bytes, count: count))
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// The secret of this key and of another's public key (ECDH), 32 bytes.
    /// - Throws: ``Problem`` if the public key is no point of the curve.
    func secret(with publicKey: [UInt8]) throws(Problem) -> [UInt8] {
        guard let other = Self.point(publicKey) else { throw Problem() }
        defer { EVP_PKEY_free(other) }
        let context = EVP_PKEY_CTX_new(key, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: 32)
        var count = secret.count
        // The point was checked when it was read, and the order of P-256 is prime: OpenSSL's own check, which takes as long as the derivation,
        // would find nothing.
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, other, 0) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == 32
        else { throw Problem() }
        return secret
    }

    /// Whether bytes are a point of the curve in uncompressed form, and not the point at infinity.
    static func isPoint(_ bytes: [UInt8]) -> Bool {
        let key = point(bytes)
        EVP_PKEY_free(key)
        return key != nil
    }

    private static func point(_ bytes: [UInt8]) -> OpaquePointer? {
        guard bytes.count == 65, bytes.first == 4 else { return nil }
        let key = kalij_p256_point(bytes, bytes.count)
        if key == nil { ERR_clear_error() }
        return key
    }
}
