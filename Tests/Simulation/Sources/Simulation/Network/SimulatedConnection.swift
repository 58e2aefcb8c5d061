@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
@testable import KalijTransport

/// A process's end of a link. As with `Connection`, bytes wait in the process until the loop's next turn.
final class SimulatedConnection: StreamConnection {
    private unowned let process: SimulatedProcess
    private let dial: (Int) -> Link?
    private var events: ((ConnectionEvent) -> Void)?
    private var link: Link?
    private var outgoing: [UInt8] = []
    private var incoming: [Link.Arrival] = []
    private var isFlushPlanned = false
    private var isOverfull = false
    /// The most bytes that may wait for the server: what the engine allows, and the last stanzas.
    private static let mostUnsent = 320 << 10

    init(_ process: SimulatedProcess, dial: @escaping (Int) -> Link?, _ events: @escaping (ConnectionEvent) -> Void) {
        self.process = process
        self.dial = dial
        self.events = events
    }

    var unsent: Int { outgoing.count }
    let traffic = Traffic()
    let roundTrip: RoundTrip? = nil
    var isReading = true { didSet { if isReading { process.schedule.enqueue { [weak self] in self?.read() } } } }

    func open() {
        process.schedule.schedule(after: 0.001) { [weak self] in self?.reach() }
    }

    private func reach() {
        guard let events else { return }
        guard let link = dial(process.number) else {
            self.events = nil
            return events(.failed(ConnectFailure([.init(host: "example.org", kind: .unreachable, reason: "refused")])))
        }
        self.link = link
        link.onClient = { [weak self, weak process] arrival in process?.perform { self?.arrived(arrival) } }
        link.onRoom = { [weak self, weak process] in process?.perform { self?.flush() } }
        let isDirect = !process.surroundings.login.server.profile.login.startsTLS
        let endpoint = Endpoint(
            host: "example.org", address: "192.0.2.1", port: isDirect ? 5223 : 5222, directTLS: isDirect)
        events(.connected(endpoint, isDirect ? tls(link) : nil))
    }

    private func tls(_ link: Link) -> TLSInfo {
        TLSInfo(
            version: "TLSv1.3", cipher: "simulated", notAfter: nil, tlsExporter: link.exporter,
            serverEndPoint: Array(repeating: 7, count: 32))
    }

    func isInSession() { link?.isInSession = true }

    func startTLS() {
        process.schedule.schedule(after: 0.001) { [weak self] in
            guard let self, let events, let link else { return }
            events(.secured(tls(link)))
        }
    }

    func send(_ bytes: [UInt8]) {
        guard events != nil, !process.isDead else { return }
        if process.overtaken != nil { process.surroundings.wrote(process, bytes) }
        if let link { process.surroundings.login.sends(bytes, on: link) }
        outgoing += bytes
        if outgoing.count > Self.mostUnsent, !isOverfull {
            isOverfull = true
            process.surroundings.login.server.fault("\(outgoing.count) bytes wait for a server that reads nothing")
        }
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        process.schedule.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    private func flush() {
        guard events != nil, !outgoing.isEmpty, link?.isRead ?? true else { return }
        write()
        outgoing = []
        events?(.drained)
    }

    private func write() {
        process.world.trace("C: \(String(decoding: outgoing, as: UTF8.self))")
        process.surroundings.left(outgoing)
        if let link { process.surroundings.login.wrote(String(decoding: outgoing, as: UTF8.self), on: link) }
        link?.send(outgoing, from: .client)
    }

    func close(_ finished: (() -> Void)?) {
        guard !process.isDead else { return }
        if !outgoing.isEmpty, link?.isRead ?? true { write() }
        drop()
        if let finished { process.schedule.enqueue(finished) }
    }

    /// The system closes the open connections of a dead process.
    func drop(silently: Bool = false) {
        if silently { link?.cut(silently: true) } else { link?.end(from: .client) }
        link = nil
        events = nil
        outgoing = []
        incoming = []
    }

    private func arrived(_ arrival: Link.Arrival) {
        incoming.append(arrival)
        read()
    }

    private func read() {
        while isReading, let events, !incoming.isEmpty {
            switch incoming.removeFirst() {
            case .bytes(let bytes):
                if let link, link.expectsToken {
                    process.surroundings.login.read(String(decoding: bytes, as: UTF8.self), on: link)
                }
                bytes.withUnsafeBytes { events(.received($0)) }
            case .end: finish(events, nil)
            case .reset: finish(events, TransportError(system: 104))
            }
        }
    }

    private func finish(_ events: (ConnectionEvent) -> Void, _ error: TransportError?) {
        drop()
        events(.closed(error))
    }
}
