import COpenSSL

/// The body of a push, encrypted for a device: `aes128gcm` with one record (RFC 8188, RFC 8291).
public enum PushMessage {
    /// OpenSSL has failed, or a body is not for this device.
    public struct Problem: Error, Sendable {
        init() { ERR_clear_error() }
    }

    /// Salt, record size, length of the key, key (RFC 8188, 2.1).
    private static let headerSize = 16 + 4 + 1 + 65
    private static let tagSize = 16
    private static let recordSize: UInt32 = 4_096
    /// Behind the last record's text (RFC 8188, 2).
    private static let lastRecord: UInt8 = 2
    /// The longest body of a single record that every push service takes (RFC 8030, 7.2).
    static let limit = 4_096

    /// Encrypts `plain` with a new key and a new salt.
    /// - Parameter size: bytes of the whole body: what is short is padded, so that the size says nothing.
    /// - Throws: ``Problem``, also if there is no room for `plain`.
    public static func encrypt(_ plain: [UInt8], for device: PushSubscription, size: Int) throws(Problem) -> [UInt8] {
        var salt = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&salt, 16) == 1, let key = try? P256Key() else { throw Problem() }
        let padding = size - headerSize - tagSize - 1 - plain.count
        guard padding >= 0, size <= limit else { throw Problem() }
        return try encrypt(plain, padding: padding, for: device, key: key, salt: salt)
    }

    /// Encrypts with a given key and salt, neither of which may be used again.
    static func encrypt(
        _ plain: [UInt8], padding: Int, for device: PushSubscription, key: P256Key, salt: [UInt8]
    ) throws(Problem) -> [UInt8] {
        let content = try ContentKey(
            own: key, other: device.publicKey, device: device.publicKey, sender: key.publicKey, secret: device.secret,
            salt: salt)
        let record = plain + [lastRecord] + [UInt8](repeating: 0, count: padding)
        let size = withUnsafeBytes(of: recordSize.bigEndian) { Array($0) }
        return salt + size + [65] + key.publicKey + (try content.seal(record))
    }

    /// Decrypts a body, as a device does.
    /// - Parameters:
    ///   - key: the device's.
    ///   - secret: the device's `auth`.
    /// - Throws: ``Problem`` if the body is not for this device, was changed, or has more than one record.
    public static func decrypt(_ body: [UInt8], key: P256Key, secret: [UInt8]) throws(Problem) -> [UInt8] {
        guard body.count > headerSize + tagSize, body.count <= limit, body[20] == 65, secret.count == 16 else {
            throw Problem()
        }
        let salt = Array(body[..<16])
        let size = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 18, body.count - headerSize <= size else { throw Problem() }
        let sender = Array(body[21..<headerSize])
        let content = try ContentKey(
            own: key, other: sender, device: key.publicKey, sender: sender, secret: secret, salt: salt)
        let record = try content.open(Array(body[headerSize...]))
        guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == lastRecord else { throw Problem() }
        return Array(record[..<end])
    }
}

/// The key and the nonce of a body's only record.
private struct ContentKey {
    private let key: [UInt8]
    private let nonce: [UInt8]

    // Fetched once and never freed: OpenSSL counts its uses atomically.
    nonisolated(unsafe) private static let function = EVP_KDF_fetch(nil, "HKDF", nil)

    /// RFC 8291, 3.4.
    init(
        own: P256Key, other: [UInt8], device: [UInt8], sender: [UInt8], secret: [UInt8], salt: [UInt8]
    ) throws(PushMessage.Problem) {
        guard let shared = try? own.secret(with: other) else { throw PushMessage.Problem() }
        let input = try Self.derive(shared, salt: secret, info: Array("WebPush: info\0".utf8) + device + sender, 32)
        key = try Self.derive(input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), 16)
        nonce = try Self.derive(input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), 12)
    }

    private static func derive(
        _ key: [UInt8], salt: [UInt8], info: [UInt8], _ count: Int
    ) throws(PushMessage.Problem) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: count)
        guard kalij_hkdf_sha256(function, &output, count, key, key.count, salt, salt.count, info, info.count) == 1
        else {
            throw PushMessage.Problem()
        }
        return output
    }

    /// AES-128-GCM; the tag is behind the text.
    func seal(_ plain: [UInt8]) throws(PushMessage.Problem) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var count: Int32 = 0
        var last: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, &output, &count, plain, Int32(clamping: plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &last) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1, Int(count) == plain.count
        else { throw PushMessage.Problem() }
        return output + tag
    }

    func open(_ sealed: [UInt8]) throws(PushMessage.Problem) -> [UInt8] {
        let cipher = Array(sealed.dropLast(16))
        var tag = Array(sealed.suffix(16))
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: cipher.count)
        var rest = [UInt8](repeating: 0, count: 16)
        var count: Int32 = 0
        var last: Int32 = 0
        guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, &output, &count, cipher, Int32(clamping: cipher.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
            EVP_DecryptFinal_ex(context, &rest, &last) == 1
        else { throw PushMessage.Problem() }
        return output
    }
}
