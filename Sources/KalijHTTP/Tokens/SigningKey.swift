import COpenSSL

/// A private key for signing tokens: P-256 (ES256) or RSA (RS256).
///
/// @unchecked because of the pointer: OpenSSL counts its uses atomically, and the key is not changed after init.
public final class SigningKey: @unchecked Sendable {
    /// The algorithms of RFC 7518, 3.1, in use by push services.
    public enum Algorithm: String, Sendable {
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    /// Why a key cannot be used.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// The text is not a private key in PEM form (PKCS #8), or the key is encrypted.
        case unreadable
        /// The key is neither P-256 nor RSA with at least 2048 bits.
        case unsuitable
        /// OpenSSL cannot sign with the key.
        case failed

        public var description: String {
            switch self {
            case .unreadable: "it is no unencrypted private key in PEM form"
            case .unsuitable: "the key is neither P-256 nor RSA of at least 2048 bits"
            case .failed: "OpenSSL cannot sign with it"
            }
        }
    }

    public let algorithm: Algorithm
    private let key: OpaquePointer

    /// Reads a key in PEM form.
    /// - Throws: ``Problem``.
    public init(pem: [UInt8]) throws(Problem) {
        defer { ERR_clear_error() }
        guard let key = Self.read(pem) else { throw .unreadable }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_EC where EVP_PKEY_get_bits(key) == 256 && Self.isP256(key): algorithm = .es256
        case EVP_PKEY_RSA where EVP_PKEY_get_bits(key) >= 2048: algorithm = .rs256
        default:
            EVP_PKEY_free(key)
            throw .unsuitable
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// A new private key on P-256 in PEM form (PKCS #8).
    /// - Throws: ``Problem/failed``.
    public static func makeES256() throws(Problem) -> [UInt8] {
        defer { ERR_clear_error() }
        let key = kalij_p256_generate()
        defer { EVP_PKEY_free(key) }
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        var text = [UInt8](repeating: 0, count: 1_024)
        guard key != nil, PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1,
            case let count = BIO_read(bio, &text, Int32(clamping: text.count)), count > 0
        else { throw .failed }
        return Array(text.prefix(Int(count)))
    }

    /// The public key of a P-256 key: a point in uncompressed form, 65 bytes. Nil for an RSA key.
    public var publicPoint: [UInt8]? {
        guard algorithm == .es256 else { return nil }
        defer { ERR_clear_error() }
        // A file may hold its key in compressed form.
        EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed")
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key, &bytes)
        // Allocated by OpenSSL with `count` bytes, copied and freed here.
        defer { CRYPTO_free(bytes, "", 0) }
        guard count == 65, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        guard let size = Int32(exactly: pem.count) else { return nil }
        return pem.withUnsafeBytes { bytes in
            // lives: the BIO reads the bytes in place; the bytes are lent until the BIO is freed
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, size) else { return nil }
            defer { BIO_free(bio) }
            // Without this callback OpenSSL would prompt on the terminal for the password of an encrypted key.
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
    }

    private static func isP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return false }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text == "prime256v1" || text == "P-256"
    }

    /// The signature in the form of RFC 7518: for ES256 both numbers, 32 bytes each (3.4); for RS256 PKCS #1 (3.3).
    /// - Throws: ``Problem/failed``.
    public func signature(of message: [UInt8]) throws(Problem) -> [UInt8] {
        defer { ERR_clear_error() }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var size = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, nil, &size, message, message.count) == 1
        else { throw .failed }
        var signature = [UInt8](repeating: 0, count: size)
        guard EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else { throw .failed }
        signature.removeLast(signature.count - size)
        return algorithm == .rs256 ? signature : try Self.plain(signature)
    }

    /// OpenSSL makes ASN.1 of the two numbers; a token holds the plain numbers.
    private static func plain(_ encoded: [UInt8]) throws(Problem) -> [UInt8] {
        let numbers = encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        defer { ECDSA_SIG_free(numbers) }
        var plain = [UInt8](repeating: 0, count: 64)
        let isWhole = plain.withUnsafeMutableBufferPointer { bytes in
            guard let numbers, let start = bytes.baseAddress else { return false }
            // Each number is padded to its half of the 64 bytes.
            return BN_bn2binpad(ECDSA_SIG_get0_r(numbers), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), start + 32, 32) == 32
        }
        guard isWhole else { throw .failed }
        return plain
    }
}
