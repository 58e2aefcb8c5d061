import COpenSSL
import Glibc

/// A certificate with its private key and its chain: shown by a client at a server's request.
///
/// @unchecked because of the pointers: OpenSSL counts their uses atomically, and nothing is changed after init.
public final class TLSIdentity: @unchecked Sendable {
    /// Why an identity cannot be read.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// The file is not PKCS #12.
        case malformed
        /// The password does not open the file.
        case wrongPassword
        /// The password is right, but OpenSSL does not support the encryption.
        case unsupported
        /// The same, and OpenSSL's legacy provider with the old algorithms (RC2, RC4) is missing.
        case noLegacyProvider
        /// The file holds no certificate, or no private key for the certificate.
        case incomplete

        public var description: String {
            switch self {
            case .malformed: "it is no PKCS #12 file"
            case .wrongPassword: "the password is wrong"
            case .unsupported: "OpenSSL does not support its encryption"
            case .noLegacyProvider:
                "its encryption is old, and OpenSSL's legacy provider (legacy.so) is missing here"
            case .incomplete: "it does not hold a certificate with its private key"
            }
        }
    }

    private let certificate: OpaquePointer
    private let key: OpaquePointer
    private let chain: [OpaquePointer]
    /// When the certificate ends, in seconds since 1970.
    public let notAfter: Int64?

    /// Reads a PKCS #12 file (RFC 7292), also with the encryption of older programs (RC2-40): OpenSSL's legacy
    /// algorithms are loaded for this reading alone.
    ///
    /// - Throws: ``Problem``.
    public init(pkcs12 bytes: [UInt8], password: String) throws(Problem) {
        defer { ERR_clear_error() }
        let reader = LegacyReader()
        // lives: the reader frees the library context of the whole reading
        defer { withExtendedLifetime(reader) {} }
        let parts = try reader.read(bytes, password)
        // Copied by way of their encodings: objects of the legacy library context would need the context forever.
        guard let certificate = Self.copy(certificate: parts.certificate) else { throw .incomplete }
        guard let key = Self.copy(key: parts.key) else {
            X509_free(certificate)
            throw .incomplete
        }
        self.certificate = certificate
        self.key = key
        chain = parts.chain.compactMap(Self.copy(certificate:))
        var fields = tm()
        let time = X509_get0_notAfter(certificate)
        notAfter = time.map { ASN1_TIME_to_tm($0, &fields) == 1 } == true ? Int64(timegm(&fields)) : nil
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
        for one in chain { X509_free(one) }
    }

    func use(in context: OpaquePointer) -> Bool {
        guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
            return false
        }
        return chain.allSatisfy { kalij_ssl_ctx_add1_chain_cert(context, $0) == 1 }
    }

    private static func copy(certificate bytes: [UInt8]) -> OpaquePointer? {
        DER.decode(bytes) { d2i_X509(nil, $0, $1) }
    }

    private static func copy(key bytes: [UInt8]) -> OpaquePointer? {
        DER.decode(bytes) { d2i_AutoPrivateKey(nil, $0, $1) }
    }
}

/// A library context of OpenSSL's with today's and yesterday's algorithms, apart from everything else.
private final class LegacyReader {
    struct Parts {
        var certificate: [UInt8]
        var key: [UInt8]
        var chain: [[UInt8]]
    }

    private let library: OpaquePointer?
    private let providers: [OpaquePointer?]

    init() {
        library = OSSL_LIB_CTX_new()
        providers = [OSSL_PROVIDER_load(library, "default"), OSSL_PROVIDER_load(library, "legacy")]
    }

    deinit {
        for provider in providers where provider != nil { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(library)
    }

    func read(_ bytes: [UInt8], _ password: String) throws(TLSIdentity.Problem) -> Parts {
        // The default of this thread alone, until the end of this reading.
        let usual = OSSL_LIB_CTX_set0_default(library)
        defer { OSSL_LIB_CTX_set0_default(usual) }
        guard let file = DER.decode(bytes, { d2i_PKCS12(nil, $0, $1) }) else { throw .malformed }
        defer { PKCS12_free(file) }
        guard
            PKCS12_verify_mac(file, password, -1) == 1
                || (password.isEmpty && PKCS12_verify_mac(file, nil, 0) == 1)
        else { throw .wrongPassword }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var chain: OpaquePointer?
        guard PKCS12_parse(file, password, &key, &certificate, &chain) == 1 else {
            throw providers.contains(nil) ? .noLegacyProvider : .unsupported
        }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        let others = Self.consumeStack(chain)
        guard let key, let certificate else { throw .incomplete }
        return Parts(
            certificate: DER.encode { i2d_X509(certificate, $0) }, key: DER.encode { i2d_PrivateKey(key, $0) },
            chain: others)
    }

    /// The encodings of a stack of certificates. Frees the stack.
    private static func consumeStack(_ stack: OpaquePointer?) -> [[UInt8]] {
        guard let stack else { return [] }
        var all: [[UInt8]] = []
        while let one = OPENSSL_sk_pop(stack) {
            // The stack's X509s are owned by this function from here on.
            let certificate = OpaquePointer(one)
            all.insert(DER.encode { i2d_X509(certificate, $0) }, at: 0)
            X509_free(certificate)
        }
        OPENSSL_sk_free(stack)
        return all
    }
}
