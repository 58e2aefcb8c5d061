import COpenSSL
import Glibc

/// The tickets of a connection: the ticket that is offered, and the tickets that the server gives.
struct TLSTicketPolicy {
    private let serverName: String
    /// A resumed handshake has no certificates: later tickets are stored with those of the offered ticket.
    private var offeredIssuers: [[UInt8]] = []
    /// Whether a ticket was offered.
    private(set) var isOffered = false
    private var reported = 0
    /// Given by the server, and not yet reported.
    private var unreported: [[UInt8]] = []
    /// The number of tickets reported in a connection: servers give two, and each is used once.
    private static let limit = 2
    /// RFC 8446 4.6.1.
    private static let maxLifetime = 7 * 86_400

    init(serverName: String) { self.serverName = serverName }

    // MARK: Offering

    /// Offers a ticket in the handshake that follows, unless it cannot be used.
    mutating func offer(_ bytes: [UInt8], in ssl: OpaquePointer) {
        guard let ticket = TLSTicket(bytes), ticket.serverName == serverName,
            let session = DER.decode(ticket.session, { d2i_SSL_SESSION(nil, $0, $1) })
        else { return }
        // SSL_set_session takes a reference of its own.
        defer { SSL_SESSION_free(session) }
        guard Self.isInTime(session), Self.isTrusted(session, ticket.issuers, in: ssl),
            SSL_set_session(ssl, session) == 1
        else { return }
        (offeredIssuers, isOffered) = (ticket.issuers, true)
    }

    private static func isInTime(_ session: OpaquePointer) -> Bool {
        let age = time(nil) - SSL_SESSION_get_time(session)
        return SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION && SSL_SESSION_is_resumable(session) == 1
            && age >= 0 && age < min(Int(SSL_SESSION_get_ticket_lifetime_hint(session)), maxLifetime)
    }

    /// A resumed handshake verifies no certificate. So the certificates from the time of the ticket are verified before
    /// the ticket is offered, with the connection's trusted certificates, name and time.
    private static func isTrusted(_ session: OpaquePointer, _ issuers: [[UInt8]], in ssl: OpaquePointer) -> Bool {
        guard let leaf = SSL_SESSION_get0_peer(session), let store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl)),
            let chain = OPENSSL_sk_new_null(), let verification = X509_STORE_CTX_new()
        else { return false }
        let certificates = issuers.compactMap { bytes in DER.decode(bytes) { d2i_X509(nil, $0, $1) } }
        defer {
            X509_STORE_CTX_free(verification)
            OPENSSL_sk_free(chain)
            for certificate in certificates { X509_free(certificate) }
            ERR_clear_error()
        }
        for certificate in certificates { OPENSSL_sk_push(chain, UnsafeRawPointer(certificate)) }
        guard X509_STORE_CTX_init(verification, store, leaf, chain) == 1,
            X509_STORE_CTX_set_default(verification, "ssl_server") == 1
        else { return false }
        // The same as OpenSSL does in a handshake.
        let parameters = X509_STORE_CTX_get0_param(verification)
        X509_VERIFY_PARAM_set_auth_level(parameters, SSL_get_security_level(ssl))
        return X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(ssl)) == 1 && X509_verify_cert(verification) == 1
    }

    // MARK: Keeping

    /// Keeps a session that OpenSSL hands out, if it has a ticket of TLS 1.3.
    mutating func keep(_ session: OpaquePointer, of ssl: OpaquePointer) {
        guard reported + unreported.count < Self.limit, Self.isInTime(session) else { return }
        let issuers = SSL_session_reused(ssl) == 1 ? offeredIssuers : Self.issuers(of: ssl)
        let ticket = TLSTicket(
            serverName: serverName, session: DER.encode { i2d_SSL_SESSION(session, $0) }, issuers: issuers)
        if !ticket.session.isEmpty, let bytes = ticket.encoded() { unreported.append(bytes) }
    }

    /// The next ticket to report.
    mutating func next() -> [UInt8]? {
        guard !unreported.isEmpty else { return nil }
        reported += 1
        return unreported.removeFirst()
    }

    private static func issuers(of ssl: OpaquePointer) -> [[UInt8]] {
        guard let chain = SSL_get_peer_cert_chain(ssl) else { return [] }
        return (0..<max(0, OPENSSL_sk_num(chain))).dropFirst().compactMap { index in
            // The stack owns its X509s.
            guard let certificate = OPENSSL_sk_value(chain, index).map(OpaquePointer.init) else { return nil }
            return DER.encode { i2d_X509(certificate, $0) }
        }
    }
}
