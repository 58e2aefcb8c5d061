import COpenSSL

/// X25519 (RFC 7748) and Ed25519 (RFC 8032), of libcrypto.
enum Curve {
    /// The public key of `secret`.
    static func publicKey(of secret: Secret) throws -> PublicKey {
        PublicKey(checked: try publicBytes(EVP_PKEY_X25519, secret))
    }

    /// The Ed25519 public key of `seed`.
    static func edwardsKey(of seed: Secret) throws -> [UInt8] { try publicBytes(EVP_PKEY_ED25519, seed) }

    private static func publicBytes(_ type: Int32, _ secret: Secret) throws -> [UInt8] {
        let key = try privateKey(type, secret)
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        try check(EVP_PKEY_get_raw_public_key(key, &bytes, &count), "EVP_PKEY_get_raw_public_key")
        return bytes
    }

    private static func privateKey(_ type: Int32, _ secret: Secret) throws -> OpaquePointer {
        try secret.withBytes {
            try check(EVP_PKEY_new_raw_private_key(type, nil, $0.octets, $0.count), "EVP_PKEY_new_raw_private_key")
        }
    }

    /// The shared secret of 32 bytes.
    /// - Throws: `RatchetError.badKey` if `other` is of low order, so that the result would be all zeros (RFC 7748
    ///   section 6.1).
    static func agree(_ secret: Secret, _ other: PublicKey) throws -> Secret {
        let own = try privateKey(EVP_PKEY_X25519, secret)
        defer { EVP_PKEY_free(own) }
        let peer = try check(
            EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, other.bytes, 32), "EVP_PKEY_new_raw_public_key")
        defer { EVP_PKEY_free(peer) }
        let context = try check(EVP_PKEY_CTX_new(own, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_derive_init(context), "EVP_PKEY_derive_init")
        // The key was made for this curve, and is not checked again.
        try check(EVP_PKEY_derive_set_peer_ex(context, peer, 0), "EVP_PKEY_derive_set_peer")
        return try Secret(count: 32) { output in
            var count = output.count
            guard EVP_PKEY_derive(context, output.octets, &count) == 1, count == 32 else {
                ERR_clear_error()
                throw RatchetError.badKey
            }
        }
    }

    /// A signature of 64 bytes.
    static func sign(_ message: [UInt8], seed: Secret) throws -> [UInt8] {
        let key = try privateKey(EVP_PKEY_ED25519, seed)
        defer { EVP_PKEY_free(key) }
        let context = try check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestSignInit(context, nil, nil, nil, key), "EVP_DigestSignInit")
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        try check(EVP_DigestSign(context, &signature, &count, message, message.count), "EVP_DigestSign")
        return signature
    }

    /// Whether `signature` is of `message` by the owner of the Ed25519 public key. libcrypto accepts keys of low order,
    /// with which anything verifies: so a signature alone proves no owner.
    static func verify(_ signature: [UInt8], of message: [UInt8], by edwardsKey: [UInt8]) throws -> Bool {
        defer { ERR_clear_error() }
        guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, edwardsKey, edwardsKey.count) else {
            return false
        }
        defer { EVP_PKEY_free(key) }
        let context = try check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestVerifyInit(context, nil, nil, nil, key), "EVP_DigestVerifyInit")
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
