import COpenSSL

/// Makes ``HashedKey``s: HMAC-SHA256 of kind, module and token or domain, with the server's secret.
///
/// Used by a single thread; the context is set up once because the set-up takes longer than the hash.
public final class KeyHasher {
    /// The kind of the hashed input.
    public enum Kind: UInt8, Sendable {
        case token = 1
        case domain = 2
        /// The identity of a module's pushes.
        case identity = 3
        /// The secret itself.
        case print = 4
    }

    /// A secret that is too short.
    public struct WeakSecret: Error, Sendable {}

    // Owned: freed in deinit.
    private let context: OpaquePointer

    /// - Parameter secret: at least 32 bytes that nobody can guess.
    /// - Throws: ``WeakSecret`` for fewer.
    public init(secret: [UInt8]) throws(WeakSecret) {
        guard secret.count >= 32, let context = Self.makeContext(secret) else { throw WeakSecret() }
        self.context = context
    }

    private static func makeContext(_ secret: [UInt8]) -> OpaquePointer? {
        let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)
        // The context holds the algorithm for as long as needed.
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        guard kalij_hmac_sha256_init(context, secret, secret.count) == 1 else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        return context
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// The key of a token of a module.
    public func key(token: some StringProtocol, module: String) -> HashedKey { key(.token, module, token.utf8) }

    /// The key of a domain.
    public func key(domain: String) -> HashedKey { key(.domain, "", domain.utf8) }

    /// The key of the identity of a module's pushes.
    func key(identity: [UInt8], module: String) -> HashedKey { key(.identity, module, identity) }

    /// Identifies the secret without revealing it.
    var print: HashedKey { key(.print, "", [UInt8]()) }

    private func key(_ kind: Kind, _ module: String, _ value: some Collection<UInt8>) -> HashedKey {
        var input: [UInt8] = [kind.rawValue]
        input.reserveCapacity(module.utf8.count + value.count + 2)
        input += module.utf8
        // No module's name has a zero byte, so no two pairs make the same input.
        input.append(0)
        input += value
        var output: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var count = 0
        withUnsafeMutableBytes(of: &output) { output in
            // 32 bytes of room for the 32 of SHA-256. A new start with the context's key.
            let room = output.bindMemory(to: UInt8.self).baseAddress
            EVP_MAC_init(context, nil, 0, nil)
            EVP_MAC_update(context, input, input.count)
            EVP_MAC_final(context, room, &count, 32)
        }
        return HashedKey(high: UInt64(bigEndian: output.0), low: UInt64(bigEndian: output.1))
    }
}
