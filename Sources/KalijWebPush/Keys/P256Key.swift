import COpenSSL

/// A key pair on P-256.
public struct P256Key: Sendable {
    /// OpenSSL has failed, or bytes are no key.
    public struct Problem: Error, Sendable {
        init() { ERR_clear_error() }
    }

    /// 32 bytes.
    package let privateKey: [UInt8]
    /// The point in uncompressed form, 65 bytes.
    public let publicKey: [UInt8]

    // Made once and never changed or freed: OpenSSL reads a group from any thread.
    nonisolated(unsafe) private static let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

    /// Makes a key.
    /// - Throws: ``Problem``.
    public init() throws(Problem) {
        var number = [UInt8](repeating: 0, count: 32)
        var point = [UInt8](repeating: 0, count: 65)
        guard let group = Self.group, kalij_p256_make(group, &number, &point) == 1 else { throw Problem() }
        (privateKey, publicKey) = (number, point)
    }

    /// Takes a private key of 32 bytes with its public key.
    /// - Throws: ``Problem`` if `publicKey` is no point of the curve.
    public init(privateKey: [UInt8], publicKey: [UInt8]) throws(Problem) {
        guard privateKey.count == 32, Self.isPoint(publicKey) else { throw Problem() }
        (self.privateKey, self.publicKey) = (privateKey, publicKey)
    }

    /// The secret of this key and of another's public key (ECDH), 32 bytes.
    /// - Throws: ``Problem`` if the public key is no point of the curve.
    func secret(with publicKey: [UInt8]) throws(Problem) -> [UInt8] {
        var secret = [UInt8](repeating: 0, count: 32)
        guard let group = Self.group, publicKey.count == 65, publicKey.first == 4,
            kalij_p256_derive(group, privateKey, publicKey, &secret) == 1
        else { throw Problem() }
        return secret
    }

    /// Whether bytes are a point of the curve in uncompressed form, and not the point at infinity.
    public static func isPoint(_ bytes: [UInt8]) -> Bool {
        guard let group = Self.group, bytes.count == 65, bytes.first == 4 else { return false }
        guard kalij_p256_is_point(group, bytes) == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }
}
