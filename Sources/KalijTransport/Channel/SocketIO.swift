import COpenSSL
import Glibc

/// A connected socket for OpenSSL and the plain channel: never blocks, never raises SIGPIPE.
final class SocketIO {
    /// -1 after closing.
    private(set) var descriptor: Int32
    /// Why the last read or write since ``prepare()`` failed, `EAGAIN` for an operation that would have blocked; 0
    /// without a failure.
    private(set) var lastError: Int32 = 0
    /// The peer has ended its side, and everything was read.
    private(set) var isAtEnd = false
    /// The received and sent bytes.
    private(set) var traffic = Traffic()
    /// Whether the peer's first bytes to OpenSSL were those of HTTP: a network's sign-in page answers in place of the
    /// server.
    private(set) var answersInHTTP: Bool?
    /// Seconds that the TCP connection took.
    let connectTime: Double
    /// There was less to read than requested: the next read would only return `EAGAIN`.
    private var isStarved = false
    /// How many readings are still acknowledged at once.
    private var promptReadings = promptAnswers
    /// How many readings after a write are acknowledged at once: they may be the write's answer.
    private static let promptAnswers = 64

    /// Takes over a connected, non-blocking socket.
    init(_ descriptor: Int32, connectTime: Double = 0) {
        self.descriptor = descriptor
        self.connectTime = connectTime
    }

    deinit { close() }

    /// Gives the descriptor back to the system; its watches have to be cancelled before.
    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Closes with a reset for the peer, and nothing lingers.
    func reset() {
        guard descriptor >= 0 else { return }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    /// Ends the client's side of the TCP connection.
    func endWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the kernel hold back a segment that is not full, at most 200 ms: what is written next leaves with it.
    func hold(_ holds: Bool) {
        var on: Int32 = holds ? 1 : 0
        setsockopt(descriptor, SOL_TCP, TCP_CORK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The last read or write found nothing to read, or no room.
    var wouldBlock: Bool { lastError == EAGAIN }

    /// The loop has reported something to read.
    func beginReading() { isStarved = false }

    /// Before a call to OpenSSL, so that ``lastError`` belongs to that call.
    func prepare() { lastError = 0 }

    /// - Returns: bytes read, 0 at the end, -1 with ``lastError``.
    func read(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        lastError = 0
        if isStarved {
            lastError = EAGAIN
            return -1
        }
        var result: Int
        repeat { result = recv(descriptor, buffer, count, 0) } while result < 0 && errno == EINTR
        if result < 0 { lastError = errno }
        if result > 0 {
            traffic.received += result
            acknowledge()
        }
        isAtEnd = result == 0
        isStarved = result > 0 && result < count
        return result
    }

    /// Makes the kernel acknowledge the read bytes at once while the peer may be answering: a negotiation, a page of the archive.
    /// A server with Nagle's algorithm (Prosody 0.12) holds each small write back until the write before is acknowledged, and the
    /// kernel delays the acknowledgement, in order to send it with data: 40 ms each time, two thirds of the time of a page
    /// (measured; RFC 896, RFC 1122 section 4.2.3.2).
    private func acknowledge() {
        guard promptReadings > 0 else { return }
        promptReadings -= 1
        // The kernel soon resets the option. A socket other than TCP's refuses, and needs nothing.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_TCP, TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// - Returns: bytes written, or -1 with ``lastError``.
    func write(_ buffer: UnsafeRawPointer, _ count: Int) -> Int {
        lastError = 0
        var result: Int
        repeat {
            result = Glibc.send(descriptor, buffer, count, Int32(MSG_NOSIGNAL))
        } while result < 0 && errno == EINTR
        if result < 0 {
            lastError = errno
        } else {
            traffic.sent += result
            promptReadings = Self.promptAnswers
        }
        return result
    }
}

extension SocketIO {
    /// OpenSSL's access to the socket: OpenSSL's own socket BIO calls `write`, which raises SIGPIPE. Unsafe only because pointers
    /// are not Sendable: the value is complete before its first use, and never changed.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE") else {
            return nil
        }
        BIO_meth_set_create(method) { bio in
            BIO_set_init(bio, 1)
            return 1
        }
        BIO_meth_set_read(method) { bio, buffer, count in
            guard let bio, let buffer, let socket = SocketIO.of(bio) else { return -1 }
            kalij_bio_clear_retry(bio)
            let result = socket.read(buffer, Int(count))
            if result > 0 { socket.detectHTTP(UnsafeRawBufferPointer(start: buffer, count: result)) }
            if result < 0, socket.lastError == EAGAIN { kalij_bio_retry_read(bio) }
            return Int32(result)  // fits: at most `count`, an Int32
        }
        BIO_meth_set_write(method) { bio, buffer, count in
            guard let bio, let buffer, let socket = SocketIO.of(bio) else { return -1 }
            kalij_bio_clear_retry(bio)
            let result = socket.write(buffer, Int(count))
            if result < 0, socket.lastError == EAGAIN { kalij_bio_retry_write(bio) }
            return Int32(result)  // fits: at most `count`, an Int32
        }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH: 1
            case BIO_CTRL_EOF: bio.flatMap(SocketIO.of)?.isAtEnd == true ? 1 : 0
            default: 0
            }
        }
        return method
    }()

    /// A BIO over this socket; the socket has to outlive the BIO.
    func makeBIO() -> OpaquePointer? {
        guard let method = SocketIO.method, let bio = BIO_new(method) else { return nil }
        // lives: the TLS session owns the BIO and the socket
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        return bio
    }

    private func detectHTTP(_ bytes: UnsafeRawBufferPointer) {
        if answersInHTTP == nil { answersInHTTP = bytes.starts(with: Array("HTTP/".utf8)) }
    }

    // The pointer is set in makeBIO, and the TLS session owns the BIO and the socket.
    private static func of(_ bio: OpaquePointer) -> SocketIO? {
        BIO_get_data(bio).map { Unmanaged<SocketIO>.fromOpaque($0).takeUnretainedValue() }
    }
}
