import COpenSSL

/// The key and the nonce of an encrypted file. Overwritten before the memory is given back.
public final class FileKey: Sendable {
    /// Bytes of a key for AES-256.
    public static let keyCount = 32
    /// Bytes of the nonces that are made here; OMEMO Media Sharing, "aesgcm".
    public static let nonceCount = 12
    /// Bytes of the tag after the ciphertext.
    public static let tagCount = 16
    /// The longest plain text of GCM in bytes: 2^39 - 256 bits (NIST SP 800-38D, 5.2.1.1).
    public static let limit: Int64 = (1 << 36) - 32

    // Holds: written in `init` alone, before anybody else has the object; freed in `deinit`. The key, and then the nonce.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    /// Copies of a key and a nonce.
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, or 16, as old clients have.
    /// - Throws: `FileError.malformed` for other lengths.
    public init(key: some Collection<UInt8>, nonce: some Collection<UInt8>) throws(FileError) {
        guard key.count == Self.keyCount, nonce.count == Self.nonceCount || nonce.count == 16 else {
            throw FileError(.malformed, "a key has 32 bytes, and a nonce 12 or 16")
        }
        bytes = .allocate(byteCount: Self.keyCount + nonce.count, alignment: 16)
        bytes.copyBytes(from: key)
        UnsafeMutableRawBufferPointer(rebasing: bytes[Self.keyCount...]).copyBytes(from: nonce)
    }

    private init(randomOf count: Int) throws(FileError) {
        bytes = .allocate(byteCount: count, alignment: 16)
        // If this throws, `deinit` runs: all properties are set.
        guard RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: count)) == 1 else {
            throw .library("RAND_bytes")
        }
    }

    /// A new key and a new nonce of 12 bytes, for one file alone.
    /// - Throws: `FileError.inputOutput` if libcrypto has no random bytes.
    public static func random() throws(FileError) -> FileKey { try FileKey(randomOf: keyCount + nonceCount) }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Copies for a row, or for the link. The copies are not overwritten.
    public var exported: (key: [UInt8], nonce: [UInt8]) {
        (Array(bytes[..<Self.keyCount]), Array(bytes[Self.keyCount...]))
    }

    /// A context of AES-256-GCM, ready for the first byte.
    func context(encrypts: Bool) throws(FileError) -> OpaquePointer {
        guard let context = EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
        let isOn: Int32 = encrypts ? 1 : 0
        let nonceCount = Int32(clamping: bytes.count - Self.keyCount)
        let key = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // The key's addresses are used within the calls; the object lives on, being `self`.
        guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, nil, nil, isOn) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, nonceCount, nil) == 1,
            EVP_CipherInit_ex(context, nil, nil, key, key?.advanced(by: Self.keyCount), isOn) == 1
        else {
            EVP_CIPHER_CTX_free(context)
            throw .library("EVP_CipherInit")
        }
        return context
    }
}
