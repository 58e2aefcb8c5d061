@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps
@testable import KalijTransport

/// A process's end of a link. As with `Connection`, bytes wait in the process until the loop's next turn.
final class SimulatedConnection: StreamConnection {
    private unowned let process: SimulatedProcess
    private let dial: () -> Link?
    private var events: ((ConnectionEvent) -> Void)?
    private var link: Link?
    private var outgoing: [UInt8] = []
    private var incoming: [Link.Arrival] = []
    private var isFlushPlanned = false

    init(_ process: SimulatedProcess, dial: @escaping () -> Link?, _ events: @escaping (ConnectionEvent) -> Void) {
        self.process = process
        self.dial = dial
        self.events = events
    }

    var unsent: Int { outgoing.count }
    var isReading = true { didSet { if isReading { process.schedule.enqueue { [weak self] in self?.read() } } } }

    func open() {
        process.schedule.schedule(after: 0.001) { [weak self] in self?.reach() }
    }

    private func reach() {
        guard let events else { return }
        guard let link = dial() else {
            self.events = nil
            return events(.failed(ConnectFailure([.init(host: "example.org", kind: .unreachable, reason: "refused")])))
        }
        self.link = link
        link.onClient = { [weak self, weak process] arrival in process?.perform { self?.arrived(arrival) } }
        let endpoint = Endpoint(host: "example.org", address: "192.0.2.1", port: 5223, directTLS: true)
        events(.connected(endpoint, TLSInfo(version: "TLSv1.3", cipher: "simulated", notAfter: nil, tlsExporter: nil)))
    }

    func startTLS() {}

    func send(_ bytes: [UInt8]) {
        guard events != nil, !process.isDead else { return }
        if process.overtaken != nil { process.surroundings.wrote(process, bytes) }
        outgoing += bytes
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        process.schedule.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    private func flush() {
        guard events != nil, !outgoing.isEmpty else { return }
        write()
        outgoing = []
        events?(.drained)
    }

    private func write() {
        process.world.trace("C: \(String(decoding: outgoing, as: UTF8.self))")
        process.surroundings.left(outgoing)
        link?.send(outgoing, from: .client)
    }

    func close(_ finished: (() -> Void)?) {
        guard !process.isDead else { return }
        if !outgoing.isEmpty { write() }
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
