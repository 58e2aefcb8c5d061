import COpenSSL

/// The hash functions of the protocol, all of libcrypto.
enum Hash {
    // Holds: fetched once, never freed, and only read afterwards.
    private nonisolated(unsafe) static let hmac = EVP_MAC_fetch(nil, "HMAC", nil)
    private nonisolated(unsafe) static let hkdf = EVP_KDF_fetch(nil, "HKDF", nil)

    /// HMAC-SHA-256 (RFC 2104) over `parts`, one after the other, of 32 bytes.
    static func authenticate(_ parts: [[UInt8]], key: Secret) throws -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        try code.withUnsafeMutableBytes { try authenticate(parts, key: key, into: $0) }
        return code
    }

    /// HMAC-SHA-256 of a byte, as a key.
    static func derive(_ byte: UInt8, key: Secret) throws -> Secret {
        try Secret(count: 32) { try authenticate([[byte]], key: key, into: $0) }
    }

    private static func authenticate(
        _ parts: [[UInt8]], key: Secret, into output: UnsafeMutableRawBufferPointer
    ) throws {
        let context = try check(EVP_MAC_CTX_new(hmac), "EVP_MAC_CTX_new")
        defer { EVP_MAC_CTX_free(context) }
        try key.withBytes { try check(kalij_hmac_sha256_init(context, $0.octets, $0.count), "EVP_MAC_init") }
        for part in parts { try check(EVP_MAC_update(context, part, part.count), "EVP_MAC_update") }
        var count = 0
        try check(EVP_MAC_final(context, output.octets, &count, output.count), "EVP_MAC_final")
    }

    /// HKDF-SHA-256 (RFC 5869). A salt of nil is 32 zeros.
    static func expand(_ key: Secret, salt: Secret? = nil, info: String, count: Int) throws -> Secret {
        let context = try check(EVP_KDF_CTX_new(hkdf), "EVP_KDF_CTX_new")
        defer { EVP_KDF_CTX_free(context) }
        let (salt, info) = (salt ?? zeros, Array(info.utf8))
        return try Secret(count: count) { output in
            try key.withBytes { key in
                try salt.withBytes { salt in
                    try check(
                        kalij_hkdf_sha256(
                            context, key.octets, key.count, salt.octets, salt.count, info, info.count, output.octets,
                            output.count), "EVP_KDF_derive")
                }
            }
        }
    }

    private static let zeros = Secret([UInt8](repeating: 0, count: 32))

    /// SHA-512.
    static func sha512(_ secret: Secret) throws -> Secret {
        try Secret(count: 64) { output in
            try secret.withBytes { input in
                try check(
                    EVP_Digest(input.baseAddress, input.count, output.octets, nil, EVP_sha512(), nil), "EVP_Digest")
            }
        }
    }

    /// Compares in a time that does not depend on the number of equal bytes.
    static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
