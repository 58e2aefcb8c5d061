import COpenSSL
import Glibc
import Synchronization
import TestSupport

/// A server on loopback, in its own threads: `serve` gets each connection, and returns to end the connection.
final class Server: Sendable {
    let port: UInt16
    private let listener: Int32
    private let peers = Mutex<[Thread]>([])
    private let acceptor = Mutex<Thread?>(nil)

    /// Listens; port 0 takes a free port.
    init(
        _ address: String = "127.0.0.1", port: UInt16 = 0, serve: @escaping @Sendable (Peer) -> Void
    ) throws {
        let isSix = address.contains(":")
        listener = socket(isSix ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        guard let port = bound(listener, address, port) else {
            throw Command.Failure(description: "bind \(address): \(String(cString: strerror(errno)))")
        }
        self.port = port
        listen(listener, 16)
        let listener = listener
        let thread = Thread { [weak self] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let peer = Thread { serve(Peer(descriptor)) }
                self?.peers.withLock { $0.append(peer) }
            }
        }
        acceptor.withLock { $0 = thread }
    }

    /// Ends listening, and waits for the connections to end.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        acceptor.withLock { $0?.join() }
        close(listener)
        peers.withLock { $0.forEach { $0.join() } }
    }
}

/// Binds a socket; returns the port.
func bound(_ descriptor: Int32, _ address: String, _ port: UInt16) -> UInt16? {
    withSocketAddress(address, port) { pointer, size in
        var size = size
        guard bind(descriptor, pointer, size) == 0, getsockname(descriptor, pointer, &size) == 0 else { return nil }
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    }
}

/// Lends an address in the system's form.
func withSocketAddress<Result>(
    _ address: String, _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    if address.contains(":") {
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        inet_pton(AF_INET6, address, &six.sin6_addr)
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
        size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    } else {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &four.sin_addr)
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
    }
    return withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
}

/// The keys with which a server encrypts its tickets, how many it gives, and how long they hold.
struct TicketKeys: Sendable {
    private let bytes = (0..<80).map { _ in UInt8.random(in: 0...255) }
    var number = 2
    var lifetime = 7200

    init(number: Int = 2, lifetime: Int = 7200) {
        self.number = number
        self.lifetime = lifetime
    }

    fileprivate func use(in context: OpaquePointer?) {
        var bytes = bytes
        SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, bytes.count, &bytes)
        SSL_CTX_set_num_tickets(context, number)
        SSL_CTX_set_timeout(context, lifetime)
        SSL_CTX_set_session_id_context(context, "kalij", 5)
    }
}

/// A connection of a ``Server``, read and written by blocking calls, in TLS or not.
final class Peer {
    let descriptor: Int32
    private(set) var ssl: OpaquePointer?
    private var context: OpaquePointer?

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // No test waits for ever.
        var patience = timeval(tv_sec: Int(hangLimit), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        // OpenSSL's socket BIO would raise SIGPIPE here.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
        close(descriptor)
    }

    /// The server's side of a TLS handshake.
    @discardableResult
    func secure(
        _ identity: Certificates.Identity, maximum: Int32 = TLS1_3_VERSION, keys: TicketKeys = TicketKeys()
    ) -> Bool {
        context = SSL_CTX_new(TLS_server_method())
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(maximum), nil)
        if maximum < TLS1_2_VERSION { SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") }
        SSL_CTX_use_certificate_chain_file(context, identity.certificate)
        SSL_CTX_use_PrivateKey_file(context, identity.key, SSL_FILETYPE_PEM)
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, length, offered, _, _ in
                // Takes the first offer.
                guard let offered else { return SSL_TLSEXT_ERR_NOACK }
                chosen?.pointee = offered + 1
                length?.pointee = offered[0]
                return SSL_TLSEXT_ERR_OK
            }, nil)
        keys.use(in: context)
        ssl = SSL_new(context)
        SSL_set_fd(ssl, descriptor)
        ERR_clear_error()
        return SSL_accept(ssl) == 1
    }

    var serverName: String? { SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }

    var alpn: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &count)
        return start.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    func read(_ limit: Int = 65536) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count =
                ssl.map { Int(SSL_read($0, buffer.baseAddress, Int32(limit))) }
                ?? recv(descriptor, buffer.baseAddress, limit, 0)
            count = max(0, count)
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                ssl.map { Int(SSL_write($0, rest.baseAddress, Int32(rest.count))) }
                    ?? send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Reads until the peer ends; returns the bytes.
    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        while case let more = read(), !more.isEmpty { all += more }
        return all
    }

    /// close_notify.
    func endTLS() { if let ssl { SSL_shutdown(ssl) } }

    /// Makes a new key, and asks the other side for a new key, too.
    func updateKey() -> Bool {
        SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(ssl) == 1
    }

    /// Closing will reset.
    func resetOnClose() {
        var setting = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
    }
}
