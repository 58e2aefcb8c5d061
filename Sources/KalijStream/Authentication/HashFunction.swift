import COpenSSL

/// A hash function of OpenSSL, and SCRAM's functions based on it (RFC 5802, 2.2).
package enum HashFunction: Sendable {
    case sha1, sha256, sha512, sha3of256, sha3of512

    /// Found once: OpenSSL would look for the implementation at each hash.
    private nonisolated(unsafe) static let sha256Fetched = EVP_MD_fetch(nil, "SHA256", nil)

    private var function: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: Self.sha256Fetched ?? EVP_sha256()
        case .sha512: EVP_sha512()
        case .sha3of256: EVP_sha3_256()
        case .sha3of512: EVP_sha3_512()
        }
    }

    /// The size of a hash in bytes.
    var size: Int {
        switch self {
        case .sha1: 20
        case .sha256, .sha3of256: 32
        case .sha512, .sha3of512: 64
        }
    }

    /// `H(str)`.
    package func hash(_ bytes: [UInt8]) throws(AuthenticationError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        guard EVP_Digest(bytes, bytes.count, &output, nil, function, nil) == 1 else { throw .cryptography }
        return output
    }

    /// `HMAC(key, str)`.
    func authenticate(_ bytes: [UInt8], key: [UInt8]) throws(AuthenticationError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        // fits: a key is a digest
        guard HMAC(function, key, Int32(key.count), bytes, bytes.count, &output, nil) != nil else {
            throw .cryptography
        }
        return output
    }

    /// `Hi(str, salt, i)`: PBKDF2 (RFC 8018) with HMAC.
    func stretch(_ password: [UInt8], salt: [UInt8], iterations: Int) throws(AuthenticationError) -> [UInt8] {
        guard let count = Int32(exactly: iterations), let saltSize = Int32(exactly: salt.count),
            let passwordSize = Int32(exactly: password.count)
        else { throw .cryptography }
        var output = [UInt8](repeating: 0, count: size)
        let done = password.withUnsafeBytes { bytes in
            // OpenSSL reads `passwordSize` bytes of the buffer; the buffer lives for the length of this call.
            PKCS5_PBKDF2_HMAC(
                bytes.bindMemory(to: CChar.self).baseAddress, passwordSize, salt, saltSize, count, function,
                Int32(size), &output)  // fits: a digest has at most 64 bytes
        }
        guard done == 1 else { throw .cryptography }
        return output
    }

    /// Compares in a time that is independent of the number of equal bytes.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
