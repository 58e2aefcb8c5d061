import COpenSSL
import Glibc
import KalijText

/// Shared by the handshakes of a connection: the trusted certificates, and the accepted protocol versions.
final class TLSContext {
    let pointer: OpaquePointer

    /// - Throws: ``TLSProblem`` if the CA file cannot be read, with the reason.
    init(_ settings: TLSSettings) throws(TLSProblem) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw TLSProblem(.tls, "OpenSSL cannot start") }
        self.pointer = pointer
        kalij_ssl_ctx_prepare(pointer)
        if settings.wantsTickets { TLSChannel.keepTickets(of: pointer) }
        if let caFile = settings.caFile {
            guard access(caFile, R_OK) == 0 else {
                throw TLSProblem(.configuration, "cannot read CA file \(caFile): \(SystemError("access").reason)")
            }
            guard SSL_CTX_load_verify_file(pointer, caFile) == 1 else {
                let words = TLSProblem.lastError() ?? "unreadable"
                throw TLSProblem(.configuration, "cannot read CA file \(caFile): \(words)")
            }
        } else {
            loadSystemStore()
        }
        if let identity = settings.identity, !identity.use(in: pointer) {
            throw TLSProblem(.configuration, "the client certificate cannot be used: \(TLSProblem.lastError() ?? "")")
        }
    }

    deinit { SSL_CTX_free(pointer) }

    /// From a directory of hashed names OpenSSL reads a certificate at a time, when looking for an issuer; the bundle
    /// of all certificates would take megabytes. So the bundle is read only if the user names one, or if there is no
    /// such directory.
    private func loadSystemStore() {
        let hasDirectory = access(X509_get_default_cert_dir(), R_OK) == 0
        if hasDirectory { SSL_CTX_set_default_verify_dir(pointer) }
        if !hasDirectory || EnvironmentVariable.value(String(cString: X509_get_default_cert_file_env())) != nil {
            SSL_CTX_set_default_verify_file(pointer)
        }
    }
}

/// Why a connection could not be secured.
struct TLSProblem: Error {
    let kind: ConnectFailure.Kind
    let reason: String
    /// The SHA-256 of the server's certificate, if that is the problem.
    let certificate: [UInt8]?

    init(_ kind: ConnectFailure.Kind, _ reason: String, certificate: [UInt8]? = nil) {
        self.kind = kind
        self.reason = reason
        self.certificate = certificate
    }

    /// The last entry of OpenSSL's error queue, in OpenSSL's words; nil if the queue is empty.
    static func lastError() -> String? {
        let code = ERR_peek_last_error()
        guard code != 0 else { return nil }
        // System errors are no part of OpenSSL's own list (ERR_SYSTEM_FLAG is the sign bit of an int).
        // fits: 31 bits are left
        if code & 0x8000_0000 != 0 { return SystemError("", code: Int32(code & 0x7fff_ffff)).reason }
        kalij_load_error_texts()
        guard let text = ERR_reason_error_string(code) else { return "error \(code)" }
        return String(cString: text)
    }
}
