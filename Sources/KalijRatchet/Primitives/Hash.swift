import COpenSSL

/// The hash functions of the protocol, all of libcrypto.
enum Hash {
    // Holds: fetched once, never freed, and only read afterwards.
    private nonisolated(unsafe) static let hmac = EVP_MAC_fetch(nil, "HMAC", nil)

    /// HMAC-SHA-256 (RFC 2104) over `parts`, one after the other, of 32 bytes.
    static func authenticate(_ parts: [[UInt8]], key: Secret) throws -> Secret {
        let code = try Authentication(key)
        for part in parts { try code.add(part) }
        return try code.end()
    }

    /// HMAC-SHA-256 of a byte, as a key.
    static func derive(_ byte: UInt8, key: Secret) throws -> Secret { try authenticate([[byte]], key: key) }

    /// HKDF-SHA-256 (RFC 5869). A salt of nil is 32 zeros.
    ///
    /// libcrypto's own function frees the salt without overwriting it, and the salts of the root chain are secrets.
    static func expand(_ key: Secret, salt: Secret? = nil, info: String, count: Int) throws -> Secret {
        let extraction = try Authentication(salt ?? zeros)
        try key.withBytes(extraction.add)
        let step = try Authentication(extraction.end())
        let info = Array(info.utf8)
        return try Secret(count: count) { output in
            var before: Secret?
            for start in stride(from: 0, to: count, by: 32) {
                if let before {
                    try step.again()
                    try before.withBytes(step.add)
                }
                try step.add(info)
                try step.add([UInt8(truncatingIfNeeded: start / 32 + 1)])
                let block = try step.end()
                block.withBytes { block in
                    UnsafeMutableRawBufferPointer(rebasing: output[start...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: block.prefix(count - start)))
                }
                before = block
            }
        }
    }

    private static let zeros = Secret([UInt8](repeating: 0, count: 32))

    /// A calculation of HMAC-SHA-256.
    private final class Authentication {
        private let context: OpaquePointer

        init(_ key: Secret) throws {
            context = try check(EVP_MAC_CTX_new(hmac), "EVP_MAC_CTX_new")
            // If this throws, `deinit` runs: all properties are set.
            try key.withBytes { try check(kalij_hmac_sha256_init(context, $0.octets, $0.count), "EVP_MAC_init") }
        }

        deinit { EVP_MAC_CTX_free(context) }

        /// Begins anew, with the same key.
        func again() throws { try check(EVP_MAC_init(context, nil, 0, nil), "EVP_MAC_init") }

        func add(_ bytes: UnsafeRawBufferPointer) throws {
            try check(EVP_MAC_update(context, bytes.octets, bytes.count), "EVP_MAC_update")
        }

        func add(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try add($0) } }

        func end() throws -> Secret {
            try Secret(count: 32) { output in
                var count = 0
                try check(EVP_MAC_final(context, output.octets, &count, output.count), "EVP_MAC_final")
            }
        }
    }

    /// SHA-512.
    static func sha512(_ secret: Secret) throws -> Secret {
        try Secret(count: 64) { output in
            try secret.withBytes { input in
                try check(
                    EVP_Digest(input.baseAddress, input.count, output.octets, nil, EVP_sha512(), nil), "EVP_Digest")
            }
        }
    }

    /// Whether `code` is what was received, in a time that does not depend on the number of equal bytes.
    static func areEqual(_ code: Secret, _ received: some Collection<UInt8>) -> Bool {
        let received = Array(received)
        return code.count == received.count
            && code.withBytes { CRYPTO_memcmp($0.baseAddress, received, received.count) == 0 }
    }
}
