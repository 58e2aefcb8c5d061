import Glibc

/// Where and how a connection is cut.
struct CutPlan {
    /// Bytes of both directions together before the cut.
    var bytes: Int
    var manner: CutManner
    /// How long nothing gets through before the end, with ``CutManner/hold``.
    var seconds: Double
}

/// A connection through the proxy.
struct ProxyLink {
    private let client: Int32
    private let server: Int32
    private var plan: CutPlan?
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private var heldUntil: Double?
    private var isReset = false
    private(set) var isOver = false
    /// Whether bytes are read and thrown away from now on. Both sides see nothing of it.
    var swallows = false
    /// How many bytes were thrown away.
    private(set) var swallowed = 0

    init(client: Int32, server: Int32, plan: CutPlan?) {
        self.client = client
        self.server = server
        self.plan = plan
    }

    /// The events to wait for: at the client, and at the server. A direction is read again once the bytes read before
    /// have left.
    func interests() -> [pollfd] {
        guard heldUntil == nil else {
            return [pollfd](repeating: pollfd(fd: -1, events: 0, revents: 0), count: 2)
        }
        let atClient = (toServer.isEmpty ? POLLIN : 0) | (toClient.isEmpty ? 0 : POLLOUT)
        let atServer = (toClient.isEmpty ? POLLIN : 0) | (toServer.isEmpty ? 0 : POLLOUT)
        return [
            pollfd(fd: client, events: Int16(truncatingIfNeeded: atClient), revents: 0),
            pollfd(fd: server, events: Int16(truncatingIfNeeded: atServer), revents: 0),
        ]
    }

    /// Moves the bytes that can be moved.
    /// - Returns: the manner of the cut, if the connection was cut in this call.
    mutating func move(_ atClient: pollfd, _ atServer: pollfd) -> CutManner? {
        if let heldUntil {
            if wallClock() >= heldUntil { finish(reset: true) }
            return nil
        }
        if atClient.revents != 0, toServer.isEmpty, let cut = read(fromClient: true) { return cut }
        if !isOver, atServer.revents != 0, toClient.isEmpty, let cut = read(fromClient: false) { return cut }
        flush()
        return nil
    }

    /// Both sides see a reset.
    mutating func reset() { finish(reset: true) }

    func closeBoth() {
        if !isReset {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
        close(client)
        close(server)
    }

    /// Reads no more bytes than may get through. The end of one side is the end of the other.
    private mutating func read(fromClient: Bool) -> CutManner? {
        let descriptor = fromClient ? client : server
        var bytes = [UInt8](repeating: 0, count: min(16384, max(1, plan?.bytes ?? .max)))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else {
            flush()
            finish(reset: count < 0)
            return nil
        }
        if swallows {
            swallowed += count
            return nil
        }
        if fromClient { toServer += bytes[..<count] } else { toClient += bytes[..<count] }
        guard var plan else { return nil }
        plan.bytes -= count
        self.plan = plan
        guard plan.bytes <= 0 else { return nil }
        flush()
        if plan.manner == .hold {
            if !isOver { heldUntil = wallClock() + plan.seconds }
        } else {
            finish(reset: plan.manner == .reset)
        }
        return plan.manner
    }

    private mutating func flush() {
        guard !isOver else { return }
        if !write(&toServer, to: server) || !write(&toClient, to: client) { finish(reset: false) }
    }

    /// - Returns: false if the other end is closed.
    private func write(_ bytes: inout [UInt8], to descriptor: Int32) -> Bool {
        while !bytes.isEmpty {
            let count = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            if count < 0 { return errno == EAGAIN }
            bytes.removeFirst(count)
        }
        return true
    }

    private mutating func finish(reset: Bool) {
        guard !isOver else { return }
        isOver = true
        isReset = reset
        if reset {
            // Closing without lingering discards unsent bytes and resets the connection.
            var none = linger(l_onoff: 1, l_linger: 0)
            for descriptor in [client, server] {
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
            }
        }
        closeBoth()
    }
}
