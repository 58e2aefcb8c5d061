import COpenSSL

/// A name for bytes.
public enum ContentDigest {
    /// SHA-256 of `bytes`.
    /// - Throws: `RatchetError.library`
    public static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        try check(EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil), "EVP_Digest")
        return digest
    }
}
