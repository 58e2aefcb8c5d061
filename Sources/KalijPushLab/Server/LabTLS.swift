import COpenSSL
import Glibc

/// The server's side of TLS with ALPN `h2`, and with client certificates if there is an authority.
final class LabTLS {
    let context: OpaquePointer

    init(certificate: String, key: String, clientAuthority: String? = nil) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw LabError("OpenSSL cannot start") }
        self.context = context
        kalij_ssl_ctx_prepare(context)
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1,
            SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
        else { throw LabError("cannot read \(certificate)") }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, length, offered, count, _ in
                guard let offered else { return SSL_TLSEXT_ERR_NOACK }
                // Lent for the call; the answer has to point inside.
                var position = 0
                while position < count {
                    let size = Int(offered[position])
                    if size == 2, position + 2 < count, offered[position + 1] == UInt8(ascii: "h"),
                        offered[position + 2] == UInt8(ascii: "2")
                    {
                        chosen?.pointee = offered + position + 1
                        length?.pointee = 2
                        return SSL_TLSEXT_ERR_OK
                    }
                    position += size + 1
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, nil)
        if let clientAuthority {
            SSL_CTX_load_verify_file(context, clientAuthority)
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
    }

    deinit { SSL_CTX_free(context) }
}

/// Why a stand-in could not be set up.
public struct LabError: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
}
