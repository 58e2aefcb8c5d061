import COpenSSL

/// AES, of libcrypto.
enum Cipher {
    private static func context() throws -> OpaquePointer { try check(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new") }

    // MARK: AES-256-CBC with PKCS#7

    static func encrypt(_ plain: UnsafeRawBufferPointer, key: Secret, iv: Secret) throws -> [UInt8] {
        let context = try context()
        defer { EVP_CIPHER_CTX_free(context) }
        try key.withBytes { key in
            try iv.withBytes { iv in
                try check(
                    EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key.octets, iv.octets), "EVP_EncryptInit")
            }
        }
        var output = [UInt8](repeating: 0, count: plain.count + 16)
        var (count, last): (Int32, Int32) = (0, 0)
        try output.withUnsafeMutableBytes { output in
            try check(
                EVP_EncryptUpdate(context, output.octets, &count, plain.octets, try size(plain.count)),
                "EVP_EncryptUpdate")
            try check(EVP_EncryptFinal_ex(context, output.octets?.advanced(by: Int(count)), &last), "EVP_EncryptFinal")
        }
        output.removeLast(output.count - Int(count + last))
        return output
    }

    /// Called after the MAC was found to hold: so an attacker cannot distinguish bad padding from a bad MAC.
    static func decrypt(_ sealed: [UInt8], key: Secret, iv: Secret) throws -> Secret {
        let context = try context()
        defer { EVP_CIPHER_CTX_free(context) }
        try key.withBytes { key in
            try iv.withBytes { iv in
                try check(
                    EVP_DecryptInit_ex(context, EVP_aes_256_cbc(), nil, key.octets, iv.octets), "EVP_DecryptInit")
            }
        }
        var (count, last): (Int32, Int32) = (0, 0)
        let padded = try Secret(count: sealed.count + 16) { output in
            guard EVP_DecryptUpdate(context, output.octets, &count, sealed, try size(sealed.count)) == 1,
                EVP_DecryptFinal_ex(context, output.octets?.advanced(by: Int(count)), &last) == 1
            else {
                ERR_clear_error()
                throw RatchetError.mac
            }
        }
        return padded.part(0..<Int(count + last))
    }

    // MARK: AES-128-GCM with a tag of 16 bytes

    static func seal(_ plain: [UInt8], key: Secret, iv: [UInt8]) throws -> (sealed: [UInt8], tag: [UInt8]) {
        let context = try context()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var (count, last): (Int32, Int32) = (0, 0)
        var rest = [UInt8](repeating: 0, count: 16)
        try prepare(context, ivCount: iv.count, isSealing: true)
        try key.withBytes { try check(EVP_EncryptInit_ex(context, nil, nil, $0.octets, iv), "EVP_EncryptInit") }
        try check(EVP_EncryptUpdate(context, &output, &count, plain, try size(plain.count)), "EVP_EncryptUpdate")
        try check(EVP_EncryptFinal_ex(context, &rest, &last), "EVP_EncryptFinal")
        try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag), "EVP_CTRL_AEAD_GET_TAG")
        return (output, tag)
    }

    /// - Throws: `RatchetError.mac` if the tag does not hold.
    static func open(_ sealed: [UInt8], tag: [UInt8], key: Secret, iv: [UInt8]) throws -> [UInt8] {
        let context = try context()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: sealed.count)
        var tag = tag
        var (count, last): (Int32, Int32) = (0, 0)
        var rest = [UInt8](repeating: 0, count: 16)
        try prepare(context, ivCount: iv.count, isSealing: false)
        try key.withBytes { try check(EVP_DecryptInit_ex(context, nil, nil, $0.octets, iv), "EVP_DecryptInit") }
        try check(EVP_DecryptUpdate(context, &output, &count, sealed, try size(sealed.count)), "EVP_DecryptUpdate")
        try check(
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, try size(tag.count), &tag), "EVP_CTRL_AEAD_SET_TAG")
        guard EVP_DecryptFinal_ex(context, &rest, &last) == 1 else {
            ERR_clear_error()
            throw RatchetError.mac
        }
        return output
    }

    private static func prepare(_ context: OpaquePointer, ivCount: Int, isSealing: Bool) throws {
        try check(
            isSealing
                ? EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, nil, nil)
                : EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, nil, nil), "EVP_CipherInit")
        try check(
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, try size(ivCount), nil), "EVP_CTRL_AEAD_SET_IVLEN")
    }

    private static func size(_ count: Int) throws -> Int32 {
        guard let size = Int32(exactly: count) else { throw RatchetError.malformed("too long") }
        return size
    }
}
