/// An attempt to reach a target, then a stream of bytes.
///
/// Belongs to the thread of its loop. Dropping a connection aborts the connection.
///
/// ```swift
/// let connection = Connection(
///     loop: loop, target: ConnectionTarget(domain: "example.org"), tls: TLSSettings(serverName: "example.org")
/// ) { event in
///     switch event {
///     case .connected(let endpoint, _): print("reached", endpoint)
///     case .received(let bytes): print(bytes.count, "bytes")
///     case .failed(let failure): print(failure)
///     case .secured, .ticket, .drained, .closed: break
///     }
/// }
/// connection.open()
/// loop.run()
/// ```
public final class Connection {
    private enum State {
        case new
        case dialing(Dialer)
        case open(any Channel)
        case securing(TLSChannel, Handshake)
        case over
    }

    /// The reached endpoint and its socket: kept after the end, for the final figures.
    private struct Reached {
        let endpoint: Endpoint
        let socket: SocketIO
        let attempts: [ConnectFailure.Attempt]
    }

    /// The needs of reading and writing; TLS may have to write before reading, and the reverse.
    private struct Needs {
        var read = Interest.read
        var write: Interest?
    }

    private let loop: EventLoop
    private let target: ConnectionTarget
    private let tls: TLSSettings
    private let limits: ConnectionLimits
    private let resolver: Resolver
    private var events: ((ConnectionEvent) -> Void)?
    private var state = State.new
    private var context: TLSContext?
    private var reached: Reached?

    private var watch: Watch?
    private var queue = SendQueue()
    private var isFlushPlanned = false
    private var isReadPlanned = false
    private var needs = Needs()
    private var writeError: TransportError?

    /// - Parameters:
    ///   - loop: the thread foreverything.
    ///   - target: the target to connect to.
    ///   - tls: how to secure the stream.
    ///   - limits: how long to wait.
    ///   - resolver: looks names up; by default with the system's servers, or those of `KALIJ_DNS_SERVERS`.
    ///   - events: called from the loop, never from within a call to the connection.
    public init(
        loop: EventLoop, target: ConnectionTarget, tls: TLSSettings, limits: ConnectionLimits = ConnectionLimits(),
        resolver: Resolver? = nil, _ events: @escaping (ConnectionEvent) -> Void
    ) {
        self.loop = loop
        self.target = target
        self.tls = tls
        self.limits = limits
        self.resolver = resolver ?? Resolver(loop: loop)
        self.events = events
    }

    deinit { abort() }

    /// Begins. Ends in ``ConnectionEvent/connected(_:_:)`` or ``ConnectionEvent/failed(_:)``. Only the first call counts.
    public func open() {
        guard case .new = state else { return }
        do throws(TLSProblem) {
            let context = try TLSContext(tls)
            self.context = context
            let dialer = Dialer(
                loop: loop, target: target, tls: tls, context: context, limits: limits, resolver: resolver
            ) { [weak self] in self?.dialed($0) }
            state = .dialing(dialer)
            dialer.start()
        } catch {
            let attempt = ConnectFailure.Attempt(host: target.domain, kind: error.kind, reason: error.reason)
            loop.enqueue { [weak self] in self?.fail(ConnectFailure([attempt])) }
        }
    }

    /// Secures the stream, after the server has agreed. Plaintext not sent yet, or arriving from now on, is dropped.
    /// Ends in ``ConnectionEvent/secured(_:)`` or ``ConnectionEvent/failed(_:)``.
    public func startTLS() {
        guard case .open(let plain as PlainChannel) = state, let context else { return }
        watch?.cancel()
        watch = nil
        queue.removeAll()
        do throws(TLSProblem) {
            let channel = try TLSChannel(socket: plain.socket, context: context, settings: tls, isDirect: false)
            let handshake = Handshake(loop: loop, channel: channel, limits: limits) { [weak self] in
                self?.handshakeEnded(channel, $0)
            }
            state = .securing(channel, handshake)
        } catch {
            state = .over
            loop.enqueue { [weak self] in self?.handshakeFailed(error) }
        }
    }

    /// Queues bytes, to be written in the loop's next turn, or when the kernel takes more. Before the connection is established,
    /// and during a handshake, the bytes wait.
    public func send(_ bytes: [UInt8]) {
        if case .over = state { return }
        guard !bytes.isEmpty, writeError == nil else { return }
        queue.append(bytes)
        planFlush()
    }

    /// How many bytes the kernel has not taken yet.
    public var unsent: Int { queue.count }

    /// The bytes on the socket since the connection was established; none before.
    public var traffic: Traffic { reached?.socket.traffic ?? Traffic() }

    /// The kernel's current estimate of the round trip; nil without an established connection.
    public var roundTrip: RoundTrip? { reached.flatMap { RoundTrip(of: $0.socket.descriptor) } }

    /// Whether bytes are read. While false, TCP holds the peer back, and the connection does not notice an end that
    /// only reading shows.
    public var isReading = true {
        didSet {
            guard isReading != oldValue else { return }
            updateInterest()
            // TLS may hold bytes unknown to epoll.
            if isReading { planRead() }
        }
    }

    /// Ends the connection in order: the queued bytes (within a second), close_notify, FIN. No further event follows.
    ///
    /// - Parameter finished: called from the loop when the socket has been closed. A process that exits earlier may cut
    ///   off queued bytes.
    public func close(_ finished: (() -> Void)? = nil) {
        events = nil
        if case .open(let channel) = state, writeError == nil {
            release()
            _ = GracefulClose(
                loop: loop, channel: channel, queue: queue, limit: limits.closing, finished: finished)
            queue.removeAll()
        } else {
            abort()
            if let finished { loop.enqueue(finished) }
        }
    }

    /// Ends the connection now, with a reset. There is no further event.
    public func abort() {
        events = nil
        switch state {
        case .new, .over: break
        case .dialing(let dialer): dialer.cancel()
        case .securing(let channel, let handshake):
            handshake.cancel()
            channel.socket.reset()
        case .open(let channel):
            watch?.cancel()
            channel.socket.reset()
        }
        release()
        queue.removeAll()
    }

    /// Releases the channel without closing it.
    private func release() {
        state = .over
        watch?.cancel()
        watch = nil
    }

    // MARK: Connecting

    private func dialed(_ result: Result<Dialer.Reached, ConnectFailure>) {
        switch result {
        case .failure(let failure): fail(failure)
        case .success(let reached):
            self.reached = Reached(
                endpoint: reached.endpoint, socket: reached.channel.socket, attempts: reached.attempts)
            begin(reached.channel) { .connected(reached.endpoint, reached.info) }
        }
    }

    private func handshakeEnded(_ channel: TLSChannel, _ result: Result<TLSInfo, TLSProblem>) {
        switch result {
        case .success(let info): begin(channel) { .secured(info) }
        case .failure(let problem):
            channel.socket.close()
            handshakeFailed(problem)
        }
    }

    private func handshakeFailed(_ problem: TLSProblem) {
        let attempt = ConnectFailure.Attempt(
            host: reached?.endpoint.host ?? target.domain, address: reached?.endpoint.address,
            port: reached?.endpoint.port, kind: problem.kind, reason: problem.reason,
            certificate: problem.certificate)
        fail(ConnectFailure((reached?.attempts ?? []) + [attempt]))
    }

    private func begin(_ channel: any Channel, _ event: () -> ConnectionEvent) {
        state = .open(channel)
        needs = Needs()
        do throws(SystemError) {
            let interest: Interest = isReading ? .read : []
            watch = try loop.watch(channel.socket.descriptor, interest) { [weak self] in self?.ready($0) }
        } catch {
            return end(TransportError(system: error.code))
        }
        events?(event())
        // A handshake may have read bytes after its own.
        planRead()
        planFlush()
        loop.enqueue { channel.socket.hold(false) }
    }

    private func fail(_ failure: ConnectFailure) {
        let events = events
        abort()
        events?(.failed(failure))
    }

    private func end(_ error: TransportError?) {
        let events = events
        if case .open(let channel) = state {
            release()
            channel.socket.close()
        }
        abort()
        events?(.closed(error))
    }
}

// MARK: - Reading and writing

extension Connection {
    private func ready(_ readiness: Readiness) {
        let isHungUp = readiness.contains(.hangup)
        if !queue.isEmpty, isHungUp || readiness.meets(needs.write ?? .write) { flush() }
        if isHungUp || readiness.meets(needs.read) { read() }
    }

    private func planRead() {
        guard !isReadPlanned else { return }
        isReadPlanned = true
        loop.enqueue { [weak self] in
            self?.isReadPlanned = false
            self?.read()
        }
    }

    private func planFlush() {
        guard !isFlushPlanned, !queue.isEmpty else { return }
        isFlushPlanned = true
        loop.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    /// Delivers the received bytes, at most 256 KiB a turn, so that no peer occupies the loop.
    private func read() {
        guard case .open(let channel) = state else { return }
        channel.socket.beginReading()
        for _ in 0..<16 {
            // Each event may have closed, secured or paused the connection.
            guard isReading, case .open(let current) = state, current === channel else { return }
            switch channel.read(into: loop.scratch) {
            case .bytes(let count):
                events?(.received(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])))
            case .ticket(let ticket): events?(.ticket(ticket))
            case .retry: continue
            case .blocked(let interest):
                needs.read = interest
                return updateInterest()
            case .ended: return end(writeError)
            case .failed(let error): return end(writeError ?? error)
            }
        }
        planRead()
    }

    /// Writes queued bytes, at most 1 MiB a turn.
    private func flush() {
        guard case .open(let channel) = state, !queue.isEmpty else { return }
        needs.write = .write
        attempt: for _ in 0..<64 where !queue.isEmpty {
            switch queue.withNext(channel.write) {
            case .wrote(let count): queue.drop(count)
            case .blocked(let interest):
                needs.write = interest
                break attempt
            case .failed(let error): return writingFailed(error)
            }
        }
        if queue.isEmpty { needs.write = nil }
        updateInterest()
        if queue.isEmpty { events?(.drained) }
    }

    /// The peer's last bytes before the end may give a reason: these are read before the error is reported.
    private func writingFailed(_ error: TransportError) {
        if error.code == .tls { return end(error) }
        writeError = error
        needs.write = nil
        queue.removeAll()
        updateInterest()
        planRead()
    }

    private func updateInterest() {
        guard case .open = state else { return }
        watch?.interest = (isReading ? needs.read : []).union(needs.write ?? [])
    }
}

extension Readiness {
    /// Whether the readiness fulfils the interest.
    fileprivate func meets(_ interest: Interest) -> Bool {
        (interest.contains(.read) && contains(.readable)) || (interest.contains(.write) && contains(.writable))
    }
}
