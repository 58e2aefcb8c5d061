import COpenSSL
import Glibc

/// A socket inside TLS, in the role of the client.
final class TLSChannel: Channel {
    /// The result of a step of the handshake.
    enum Progress {
        case done(TLSInfo)
        case blocked(on: Interest)
        case failed(TLSProblem)
    }

    let socket: SocketIO
    private let ssl: OpaquePointer
    private let serverName: String
    /// Filled by OpenSSL's callback while reading.
    private var tickets: TLSTicketPolicy
    /// Set by the verification callback during ``handshake()``.
    private var certificateProblem: CertificateProblem?
    private var hasEndedWriting = false

    /// Offers the protocols of the settings, but none after STARTTLS.
    ///
    /// - Throws: ``TLSProblem`` if the server name is not a valid name.
    init(
        socket: SocketIO, context: TLSContext, settings: TLSSettings, isDirect: Bool
    ) throws(TLSProblem) {
        guard let ssl = SSL_new(context.pointer) else { throw TLSProblem(.tls, "out of memory") }
        self.socket = socket
        self.ssl = ssl
        serverName = settings.serverName
        tickets = TLSTicketPolicy(serverName: settings.serverName)
        guard let bio = socket.makeBIO() else { throw TLSProblem(.tls, "out of memory") }
        SSL_set_bio(ssl, bio, bio)
        SSL_set_connect_state(ssl)
        try expect(serverName)
        if isDirect { try offer(settings.alpn) }
        if let ticket = settings.ticket { tickets.offer(ticket, in: ssl) }
        // lives: the session is freed in the channel's deinit
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_verify(ssl, SSL_VERIFY_PEER) { verified, context in
            if verified == 0, let context { TLSChannel.of(context)?.recordProblem(context) }
            return verified
        }
    }

    deinit { SSL_free(ssl) }

    /// RFC 9525 6: names of the subjectAltName alone, wildcards only as a whole label; addresses as addresses.
    private func expect(_ name: String) throws(TLSProblem) {
        let parameters = SSL_get0_param(ssl)
        X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        if SocketAddress.isLiteral(name) {
            guard X509_VERIFY_PARAM_set1_ip_asc(parameters, SocketAddress.withoutBrackets(name)) == 1 else {
                throw TLSProblem(.configuration, "no certificate can be for the address \(name)")
            }
        } else {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
                X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1,
                kalij_ssl_set_sni(ssl, name) == 1
            else { throw TLSProblem(.configuration, "no certificate can be for the host name \(name)") }
        }
    }

    private func offer(_ protocols: [String]) throws(TLSProblem) {
        guard !protocols.isEmpty else { return }
        var list: [UInt8] = []
        for name in protocols {
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else {
                throw TLSProblem(.configuration, "ALPN names have 1 to 255 bytes")
            }
            list += [length] + Array(name.utf8)
        }
        SSL_set_alpn_protos(ssl, list, UInt32(list.count))  // fits: the program's own short list
    }

    func handshake() -> Progress {
        socket.beginReading()
        while true {
            prepare()
            let result = SSL_do_handshake(ssl)
            if result == 1 { return .done(info()) }
            switch SSL_get_error(ssl, result) {
            // Without AUTO_RETRY a record may have been taken in without the handshake being further.
            case SSL_ERROR_WANT_READ where !socket.wouldBlock: continue
            case SSL_ERROR_WANT_READ: return .blocked(on: .read)
            case SSL_ERROR_WANT_WRITE: return .blocked(on: .write)
            default: return .failed(handshakeProblem())
            }
        }
    }

    private func handshakeProblem() -> TLSProblem {
        if let problem = certificateProblem {
            return TLSProblem(problem.kind, problem.reason, certificate: problem.fingerprint)
        }
        let closed = TLSProblem(.tls, "the connection was closed during the TLS handshake")
        switch socket.lastError {
        case 0, EAGAIN: break
        case ECONNRESET, EPIPE: return closed
        case let code: return TLSProblem(.tls, "TLS handshake: " + SystemError("", code: code).reason)
        }
        switch ERR_GET_REASON(ERR_peek_last_error()) {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST:
            let hint = socket.answersInHTTP == true ? " (a network's sign-in page?)" : ""
            return TLSProblem(.tls, "the peer does not speak TLS" + hint)
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return TLSProblem(.tls, "the server speaks no TLS version of 1.2 or newer")
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return closed
        default:
            return TLSProblem(.tls, "TLS handshake: " + (TLSProblem.lastError() ?? "the connection was closed"))
        }
    }

    // The pointer was set in init; OpenSSL calls back only from within the channel's own calls, while the channel lives.
    private static func of(_ context: OpaquePointer) -> TLSChannel? {
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
            .flatMap { TLSChannel.of(ssl: OpaquePointer($0)) }
    }

    // The same.
    private static func of(ssl: OpaquePointer) -> TLSChannel? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSChannel>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Has the channels of a context keep the tickets that their servers give.
    static func keepTickets(of context: OpaquePointer) {
        kalij_ssl_ctx_hand_out_sessions(context) { ssl, session in
            if let ssl, let session { TLSChannel.of(ssl: ssl)?.tickets.keep(session, of: ssl) }
            // OpenSSL's session is not kept.
            return 0
        }
    }

    fileprivate func recordProblem(_ context: OpaquePointer) {
        if certificateProblem == nil {
            certificateProblem = CertificateProblem(verifying: context, serverName: serverName)
        }
    }

    private func info() -> TLSInfo {
        var exporter: [UInt8]?
        if SSL_version(ssl) >= TLS1_3_VERSION {
            var bytes = [UInt8](repeating: 0, count: 32)
            let label = "EXPORTER-Channel-Binding"
            let made = SSL_export_keying_material(ssl, &bytes, bytes.count, label, label.utf8.count, nil, 0, 0)
            if made == 1 { exporter = bytes }
        }
        var fields = tm()
        // After a resumed handshake the certificate is the session's.
        let certificate = SSL_get0_peer_certificate(ssl)
        let time = certificate.flatMap { X509_get0_notAfter($0) }
        let hasTime = time.map { ASN1_TIME_to_tm($0, &fields) == 1 } ?? false
        return TLSInfo(
            version: String(cString: SSL_get_version(ssl)),
            cipher: String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))),
            notAfter: hasTime ? Int64(timegm(&fields)) : nil, tlsExporter: exporter,
            serverEndPoint: certificate.flatMap(Self.endPoint), alpn: chosenProtocol(),
            hasOfferedTicket: tickets.isOffered, isResumed: SSL_session_reused(ssl) == 1)
    }

    /// RFC 5929 4.1: the hash of the certificate by the hash of its signature, by SHA-256 instead of MD5 and SHA-1.
    private static func endPoint(of certificate: OpaquePointer) -> [UInt8]? {
        var used: OpaquePointer?
        var isFallback: Int32 = 0
        let digest = X509_digest_sig(certificate, &used, &isFallback)
        defer {
            ASN1_OCTET_STRING_free(digest)
            EVP_MD_free(used)
        }
        // The binding is not defined for a signature without a hash of its own.
        guard digest != nil, let used, isFallback == 0 else { return nil }
        let isOld = EVP_MD_is_a(used, "MD5") == 1 || EVP_MD_is_a(used, "SHA1") == 1
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, isOld ? EVP_sha256() : used, &bytes, &count) == 1 else { return nil }
        return Array(bytes.prefix(Int(count)))
    }

    private func chosenProtocol() -> String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &count)
        // OpenSSL's bytes live as long as the session; the result is a copy.
        return start.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }
}

extension TLSChannel {
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        prepare()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ:
            if let ticket = tickets.next() { return .ticket(ticket) }
            return socket.wouldBlock ? .blocked(on: .read) : .retry
        case SSL_ERROR_WANT_WRITE: return .blocked(on: .write)
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed(failure())
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        prepare()
        var count = 0
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .wrote(count) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .blocked(on: .read)
        case SSL_ERROR_WANT_WRITE: return .blocked(on: .write)
        default: return .failed(failure())
        }
    }

    func endWriting() -> WriteOutcome {
        if hasEndedWriting { return .wrote(0) }
        prepare()
        let result = SSL_shutdown(ssl)
        if result >= 0 {
            hasEndedWriting = true
            return .wrote(0)
        }
        return SSL_get_error(ssl, result) == SSL_ERROR_WANT_WRITE ? .blocked(on: .write) : .failed(failure())
    }

    // OpenSSL determines the result of a call from the thread's error queue: earlier errors there would mislead OpenSSL.
    private func prepare() {
        ERR_clear_error()
        socket.prepare()
    }

    private func failure() -> TransportError {
        if socket.lastError != 0, !socket.wouldBlock { return TransportError(system: socket.lastError) }
        if ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING { return .truncated }
        return TransportError(.tls, "TLS: " + (TLSProblem.lastError() ?? "the connection was closed"))
    }
}
