import COpenSSL

/// SHA-256 of a stream of bytes (FIPS 180-4), by libcrypto.
final class SHA256Stream {
    let context: OpaquePointer

    init() throws(FileError) {
        guard let context = EVP_MD_CTX_new() else { throw .library("EVP_MD_CTX_new") }
        self.context = context
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw .library("EVP_DigestInit") }
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        guard bytes.withUnsafeBytes({ EVP_DigestUpdate(context, $0.baseAddress, $0.count) }) == 1 else {
            throw .library("EVP_DigestUpdate")
        }
    }

    /// The 32 bytes. Nothing can be added afterwards.
    func value() throws(FileError) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 32)
        guard EVP_DigestFinal_ex(context, &value, nil) == 1 else { throw .library("EVP_DigestFinal") }
        return value
    }

    /// The digest of an open file's first `size` bytes.
    /// - Throws: `FileError.changed` if the file is shorter.
    static func of(_ descriptor: Descriptor, size: Int64) throws(FileError) -> [UInt8] {
        let digest = try SHA256Stream()
        var buffer = [UInt8](repeating: 0, count: SourceFile.chunk)
        var offset: Int64 = 0
        while offset < size {
            let count = min(try descriptor.read(into: &buffer, at: offset), Int(clamping: size - offset))
            guard count > 0 else { throw FileError(.changed) }
            try digest.update(buffer[..<count])
            offset += Int64(count)
        }
        return try digest.value()
    }
}

extension FileError {
    /// A function of libcrypto has failed. OpenSSL's queue of errors is emptied.
    static func library(_ function: String) -> FileError {
        ERR_clear_error()
        return FileError(.inputOutput, "\(function) of libcrypto has failed")
    }
}
