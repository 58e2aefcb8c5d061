import KalijTransport
import TestSupport

/// Brings a connection's events to a dialogue made later.
private final class Relay {
    weak var dialogue: Dialogue?
}

/// A loop with a connection, the connection's events, and waits for events.
final class Dialogue {
    let loop: EventLoop
    let connection: Connection
    private let began: Double
    private let relay = Relay()
    private(set) var endpoint: Endpoint?
    private(set) var info: TLSInfo?
    private(set) var received: [UInt8] = []
    private(set) var failure: ConnectFailure?
    private(set) var tickets: [[UInt8]] = []
    private(set) var drained = 0
    private(set) var isClosed = false
    private(set) var error: TransportError?
    /// Called for each event, after storing.
    var onEvent: ((ConnectionEvent) -> Void)?
    /// Whether received bytes are kept or only counted.
    var keepsBytes = true
    private(set) var receivedCount = 0

    init(
        domain: String = "example.org", host: String = "127.0.0.1", port: UInt16?, directTLS: DirectTLS = .never,
        serverName: String = "example.org", caFile: String? = nil, limits: ConnectionLimits = ConnectionLimits(),
        dns: String? = nil, remembered: Endpoint? = nil, ticket: [UInt8]? = nil, wantsTickets: Bool = false
    ) throws {
        loop = try EventLoop()
        began = loop.now
        let target = ConnectionTarget(
            domain: domain, override: port.map { (host: host, port: $0) }, directTLS: directTLS,
            remembered: remembered)
        let authority = try Certificates.shared.get().authority
        let tls = TLSSettings(
            serverName: serverName, caFile: caFile ?? authority, ticket: ticket, wantsTickets: wantsTickets)
        connection = Connection(
            loop: loop, target: target, tls: tls, limits: limits, resolver: Resolver(loop: loop, servers: dns)
        ) { [relay] in relay.dialogue?.keep($0) }
        relay.dialogue = self
        connection.open()
    }

    /// Seconds since the connecting began.
    var elapsed: Double { loop.now - began }

    private func keep(_ event: ConnectionEvent) {
        switch event {
        case .connected(let endpoint, let info):
            self.endpoint = endpoint
            self.info = info
        case .secured(let info): self.info = info
        case .received(let bytes):
            receivedCount += bytes.count
            if keepsBytes { received += bytes }
        case .ticket(let ticket): tickets.append(ticket)
        case .drained: drained += 1
        case .failed(let failure): self.failure = failure
        case .closed(let error):
            isClosed = true
            self.error = error
        }
        onEvent?(event)
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Turns the loop until a condition holds; false if it hangs.
    @discardableResult
    func wait(until condition: @escaping () -> Bool) -> Bool {
        turn(for: hangLimit, or: condition)
        return condition()
    }

    /// Turns the loop for a while, to see that nothing happens, or until a condition holds.
    func turn(for seconds: Double, or condition: @escaping () -> Bool = { false }) {
        let end = loop.now + seconds
        func check() {
            if condition() || loop.now >= end { return loop.stop() }
            loop.schedule(after: 0.005) { check() }
        }
        check()
        loop.run()
    }

    func waitForConnection() -> Bool { wait { self.endpoint != nil || self.failure != nil } && endpoint != nil }
    func waitForSecurity() -> Bool { wait { self.info != nil || self.failure != nil } && info != nil }
    func waitForFailure() -> ConnectFailure? {
        wait { self.failure != nil || self.endpoint != nil && self.info != nil }
        return failure
    }
    func waitForEnd() -> Bool { wait { self.isClosed } }
}
