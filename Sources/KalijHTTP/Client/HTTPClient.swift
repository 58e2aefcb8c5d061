import KalijTransport

/// The target of requests: always with TLS.
public struct HTTPOrigin: Sendable, Hashable {
    public var host: String
    public var port: UInt16
    /// Where the host is, instead of the DNS's answer.
    public var address: String?

    public init(host: String, port: UInt16 = 443, address: String? = nil) {
        self.host = host
        self.port = port
        self.address = address
    }

    var authority: String { port == 443 ? host : "\(host):\(port)" }
}

/// News about a client's connections for an operator.
public enum HTTPNotice: Sendable {
    /// A connection was established; with the expiry of the server's certificate, in seconds since 1970.
    case connected(notAfter: Int64?)
    /// The server closes a connection, with the server's reason.
    case goAway(reason: String)
    /// A connection could not be made, or has ended otherwise than in order.
    case failed(String)
}

/// Sends requests to an origin over a few long-lived connections: HTTP/2, and HTTP/1.1 where the limits allow that.
///
/// Belongs to the thread of its loop. Connections are made when requests need them. A request that the peer has certainly not
/// processed (GOAWAY, REFUSED_STREAM) is sent again automatically, three times at most; all other failures are reported, for the
/// caller to judge.
public final class HTTPClient {
    /// A pending request.
    final class Ticket {
        let request: HTTPRequest
        let deadline: Double
        let done: (HTTPOutcome) -> Void
        var attempts = 0

        init(request: HTTPRequest, deadline: Double, done: @escaping (HTTPOutcome) -> Void) {
            self.request = request
            self.deadline = deadline
            self.done = done
        }
    }

    private let loop: EventLoop
    private let origin: HTTPOrigin
    private let tls: TLSSettings
    private let limits: HTTPLimits
    private let resolver: Resolver
    private let notice: (HTTPNotice) -> Void
    private var connections: [HTTPConnection] = []
    private var queue: [Ticket] = []
    private var sweep: Timer?
    private var backoff: Backoff
    private var restUntil = 0.0
    private var restReason = ""
    private var isClosed = false
    private var isDispatchPlanned = false

    /// - Parameters:
    ///   - tls: certificates; the server name is the origin's unless given, and ALPN follows from `limits`.
    ///   - notice: called from the loop.
    public init(
        loop: EventLoop, origin: HTTPOrigin, tls: TLSSettings? = nil, limits: HTTPLimits = HTTPLimits(),
        resolver: Resolver? = nil, notice: @escaping (HTTPNotice) -> Void = { _ in }
    ) {
        self.loop = loop
        self.origin = origin
        var tls = tls ?? TLSSettings(serverName: origin.host)
        tls.alpn = limits.version1 ? ["h2", "http/1.1"] : ["h2"]
        self.tls = tls
        self.limits = limits
        self.resolver = resolver ?? Resolver(loop: loop)
        self.notice = notice
        backoff = Backoff(base: 1, limit: limits.backoff)
    }

    /// Requests without an outcome so far.
    public var pending: Int { queue.count + connections.reduce(0) { $0 + $1.tickets.count } }
    /// Established connections.
    public var openConnections: Int { connections.count { $0.isOpen } }

    /// Sends a request.
    /// - Parameters:
    ///   - timeout: seconds until the outcome at the latest.
    ///   - done: called once from the loop, never from within this call.
    public func perform(_ request: HTTPRequest, timeout: Double, _ done: @escaping (HTTPOutcome) -> Void) {
        if let failure = refusal() {
            loop.enqueue { done(.failure(failure)) }
            return
        }
        queue.append(Ticket(request: request, deadline: loop.now + timeout, done: done))
        planDispatch()
        planSweep()
    }

    /// Ends all connections; pending requests fail.
    public func close() {
        isClosed = true
        sweep?.cancel()
        for connection in connections { connection.close(HTTPFailure(.connectionLost, "closed by us")) }
        connections = []
        failQueue(HTTPFailure(.unreachable, "closed by us"))
    }

    private func refusal() -> HTTPFailure? {
        if isClosed { return HTTPFailure(.unreachable, "closed by us") }
        if queue.count >= limits.queue { return HTTPFailure(.queueFull, "\(queue.count) requests wait already") }
        if connections.isEmpty, loop.now < restUntil { return HTTPFailure(.unreachable, restReason) }
        return nil
    }

    // MARK: Dispatching

    private func planDispatch() {
        guard !isDispatchPlanned else { return }
        isDispatchPlanned = true
        loop.enqueue { [weak self] in
            self?.isDispatchPlanned = false
            self?.dispatch()
        }
    }

    private func dispatch() {
        var sent = 0
        while sent < queue.count, let connection = leastLoaded() {
            let ticket = queue[sent]
            sent += 1
            if !connection.submit(ticket, authority: origin.authority) {
                let failure = HTTPFailure(.invalid, "the request cannot be sent")
                loop.enqueue { ticket.done(.failure(failure)) }
            }
        }
        if sent > 0 { queue.removeFirst(sent) }
        if !queue.isEmpty { connectIfUseful() }
    }

    private func leastLoaded() -> HTTPConnection? {
        var best: HTTPConnection?
        for connection in connections where connection.capacity > 0 {
            if let current = best, current.tickets.count <= connection.tickets.count { continue }
            best = connection
        }
        return best
    }

    private func connectIfUseful() {
        let usable = connections.filter { !$0.isGoingAway }
        guard !isClosed, usable.count < limits.connections, usable.allSatisfy(\.isReady) else { return }
        guard loop.now >= restUntil else {
            if usable.isEmpty { failQueue(HTTPFailure(.unreachable, restReason)) }
            return
        }
        let target = ConnectionTarget(
            domain: origin.host, override: (host: origin.address ?? origin.host, port: origin.port), directTLS: .only,
            addresses: limits.addresses)
        let connection = HTTPConnection(loop: loop, limits: limits) { [weak self] in self?.happened($1, on: $0) }
        connections.append(connection)
        connection.open(target: target, tls: tls, resolver: resolver)
    }

    private func happened(_ event: HTTPConnection.Event, on connection: HTTPConnection) {
        switch event {
        case .connected(let notAfter): notice(.connected(notAfter: notAfter))
        case .hasRoom:
            if connection.hasAnswered { backoff.reset() }
            if !queue.isEmpty { dispatch() }
        case .goAway(let reason):
            notice(.goAway(reason: reason))
            // Otherwise a server that closes each connection at once would get the next connection without a pause.
            if !connection.hasAnswered, connection.tickets.isEmpty { rest("the server closes new connections") }
        case .unprocessed(let tickets): resend(tickets)
        case .over(let failure):
            connections.removeAll { $0 === connection }
            if let failure {
                notice(.failed(failure.description))
                rest(failure.description)
            } else if !connection.hasAnswered {
                // In order, and again and again: the next connection is made after a pause, too.
                rest("the server closes connections without an answer")
            } else {
                planDispatch()
            }
        }
    }

    /// After a failure nothing is tried for a while; requests waiting for a connection fail at once.
    private func rest(_ reason: String) {
        restUntil = loop.now + backoff.next(random: .random(in: 0..<1))
        restReason = reason
        if connections.isEmpty {
            failQueue(HTTPFailure(.unreachable, reason))
        } else {
            planDispatch()
        }
    }

    private func resend(_ tickets: [Ticket]) {
        var again: [Ticket] = []
        for ticket in tickets {
            ticket.attempts += 1
            if ticket.attempts <= 3, !isClosed {
                again.append(ticket)
            } else {
                ticket.done(.failure(HTTPFailure(.unprocessed, "the server has not taken the request three times")))
            }
        }
        queue.insert(contentsOf: again, at: 0)
        if !again.isEmpty { planDispatch() }
    }

    private func failQueue(_ failure: HTTPFailure) {
        let failed = queue
        queue = []
        for ticket in failed { loop.enqueue { ticket.done(.failure(failure)) } }
    }

    // MARK: Time

    /// Looks for late requests four times a second, as long as there are any requests: a timer each would cost more.
    private func planSweep() {
        guard sweep == nil else { return }
        sweep = loop.schedule(after: 0.25) { [weak self] in
            guard let self else { return }
            sweep = nil
            expire()
            if pending > 0 { planSweep() }
        }
    }

    private func expire() {
        let now = loop.now
        for connection in connections { connection.expire(now) }
        guard queue.contains(where: { $0.deadline <= now }) else { return }
        let late = queue.filter { $0.deadline <= now }
        queue.removeAll { $0.deadline <= now }
        for ticket in late {
            ticket.done(.failure(HTTPFailure(.timedOut, "no connection was free in time")))
        }
    }
}
