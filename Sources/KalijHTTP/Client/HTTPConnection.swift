import KalijTransport

/// A connection of a client: passes a session's bytes to a socket, and its events to the requests.
final class HTTPConnection {
    typealias Ticket = HTTPClient.Ticket

    enum Event {
        case connected(notAfter: Int64?)
        /// There may be room for more requests.
        case hasRoom
        case goAway(reason: String)
        /// The peer has not processed these requests.
        case unprocessed([Ticket])
        /// The connection has ended; nil if in order.
        case over(HTTPFailure?)
    }

    private let loop: EventLoop
    private let limits: HTTPLimits
    /// HTTP/2 until the handshake selects another version.
    private var session: any HTTPSession
    private let event: (HTTPConnection, Event) -> Void
    private var connection: Connection?
    private(set) var tickets: [Int32: Ticket] = [:]
    private(set) var isOpen = false
    /// Whether a request ever had its response here: only then the path to the server has been proven.
    private(set) var hasAnswered = false
    private var isOver = false
    private var isFlushPlanned = false
    private var lastReceived = 0.0
    private var used = 0.0
    private var pinged: Double?
    private var health: Timer?

    init(loop: EventLoop, limits: HTTPLimits, _ event: @escaping (HTTPConnection, Event) -> Void) {
        self.loop = loop
        self.limits = limits
        self.event = event
        session = HTTP2Session(limits: limits)
    }

    deinit { health?.cancel() }

    var capacity: Int { isOpen ? session.capacity : 0 }
    /// Whether the peer has announced its limit for requests.
    var isReady: Bool { isOpen && session.hasSettings }
    var isGoingAway: Bool { session.isGoingAway }

    func open(target: ConnectionTarget, tls: TLSSettings, resolver: Resolver) {
        let connection = Connection(
            loop: loop, target: target, tls: tls, limits: limits.connecting, resolver: resolver
        ) { [weak self] in self?.happened($0) }
        self.connection = connection
        connection.open()
    }

    func submit(_ ticket: Ticket, authority: String) -> Bool {
        guard let stream = session.submit(ticket.request, authority: authority) else { return false }
        tickets[stream] = ticket
        used = loop.now
        planFlush()
        return true
    }

    /// Ends the connection; open requests fail.
    func close(_ failure: HTTPFailure) {
        guard !isOver else { return }
        session.terminate()
        if let bytes = try? session.drainOutput(), isOpen { connection?.send(bytes) }
        let open = release()
        connection?.close()
        for ticket in open { loop.enqueue { ticket.done(.failure(failure)) } }
    }

    /// Gives late requests up, and sends the peer a PING.
    func expire(_ now: Double) {
        let late = tickets.filter { $0.value.deadline <= now }
        guard !late.isEmpty else { return }
        for (stream, ticket) in late {
            tickets[stream] = nil
            session.cancel(stream)
            ticket.done(.failure(HTTPFailure(.timedOut, "no answer in time")))
        }
        guard !isOver, isOpen else { return }
        guard session.canPing else { return end(HTTPFailure(.connectionLost, "the server does not answer")) }
        ping(now)
        planFlush()
        event(self, .hasRoom)
    }

    // MARK: The connection

    private func happened(_ event: ConnectionEvent) {
        switch event {
        case .connected(_, let info): begin(info)
        case .received(let bytes): receive(bytes)
        case .drained: flush()
        case .failed(let failure): end(HTTPFailure(.unreachable, failure.description))
        case .closed(let error):
            session.finish()
            handleEvents()
            let isInOrder = error == nil && session.isGoingAway
            end(isInOrder ? nil : HTTPFailure(.connectionLost, error?.description ?? "the server has closed it"))
        case .secured, .ticket: break
        }
    }

    private func begin(_ info: TLSInfo?) {
        if info?.alpn != "h2" {
            guard limits.version1 else { return end(HTTPFailure(.unreachable, "the server does not speak HTTP/2")) }
            session = HTTP1Session(limits: limits)
        }
        isOpen = true
        lastReceived = loop.now
        used = loop.now
        planHealth()
        flush()
        event(self, .connected(notAfter: info?.notAfter))
        // With HTTP/2 the peer's SETTINGS report the room.
        if !isOver, session.hasSettings { event(self, .hasRoom) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        lastReceived = loop.now
        pinged = nil
        do throws(HTTPFailure) {
            try session.receive(bytes)
        } catch {
            return end(error)
        }
        handleEvents()
        flush()
        guard !isOver, session.isOver else { return }
        // Without a GOAWAY of the peer's nghttp2 has ended the session, because of the peer's frames.
        end(session.isGoingAway ? nil : HTTPFailure(.connectionLost, "the server's bytes are not HTTP/2"))
    }

    private func handleEvents() {
        let events = session.drainEvents()
        guard !events.isEmpty, !isOver else { return }
        var unprocessed: [Ticket] = []
        for one in events {
            switch one {
            case .ended(let stream, let outcome):
                guard let ticket = tickets.removeValue(forKey: stream) else { continue }
                if case .failure(let failure) = outcome, failure.code == .unprocessed {
                    unprocessed.append(ticket)
                } else {
                    if case .success = outcome { hasAnswered = true }
                    ticket.done(outcome)
                }
            case .goAway(_, _, let reason): event(self, .goAway(reason: reason))
            case .settings, .window, .pong: break
            }
        }
        if !unprocessed.isEmpty { event(self, .unprocessed(unprocessed)) }
        if !isOver { event(self, .hasRoom) }
    }

    private func planFlush() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        loop.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    private func flush() {
        // A peer that does not read makes nghttp2 keep the peer's answers, up to a limit of nghttp2.
        guard isOpen, !isOver, let connection, connection.unsent < 1 << 20 else { return }
        do throws(HTTPFailure) {
            connection.send(try session.drainOutput())
        } catch {
            return end(error)
        }
        handleEvents()
    }

    private func end(_ failure: HTTPFailure?) {
        guard !isOver else { return }
        let open = release()
        connection?.close()
        let lost = failure ?? HTTPFailure(.connectionLost, "the server has closed the connection")
        for ticket in open { ticket.done(.failure(lost)) }
        event(self, .over(failure))
    }

    private func release() -> [Ticket] {
        isOver = true
        isOpen = false
        health?.cancel()
        defer { tickets = [:] }
        return tickets.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Health

    private func planHealth() {
        let now = loop.now
        let sign = session.canPing ? lastReceived + limits.pingAfter : .infinity
        let next = pinged.map { $0 + limits.pingLimit } ?? min(sign, used + limits.idle)
        health = loop.schedule(after: max(0.05, next - now)) { [weak self] in self?.checkHealth() }
    }

    private func checkHealth() {
        guard !isOver else { return }
        let now = loop.now
        if let pinged, now >= pinged + limits.pingLimit {
            return end(HTTPFailure(.connectionLost, "no answer to PING within \(Int(limits.pingLimit)) s"))
        }
        if tickets.isEmpty, now >= used + limits.idle {
            session.terminate()
            flush()
            return end(nil)
        }
        if session.canPing, now >= lastReceived + limits.pingAfter { ping(now) }
        if !tickets.isEmpty { used = now }
        planHealth()
    }

    private func ping(_ now: Double) {
        guard pinged == nil else { return }
        session.ping()
        pinged = now
        planFlush()
        health?.cancel()
        planHealth()
    }
}
