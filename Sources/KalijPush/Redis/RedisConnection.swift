import KalijTransport

/// Keeps a connection to a server of ``NodesSettings/redis``. After a loss the connection is made again, with back-off and
/// jitter. The content of commands and replies is opaque here.
final class RedisConnection {
    enum Event {
        case connected
        case reply(RESP)
        /// Lost, or not reached.
        case disconnected(String)
    }

    /// More bytes that the server does not take are not kept.
    private static let unsentLimit = 4 << 20

    private let loop: EventLoop
    private let settings: RedisSettings
    private let events: (Event) -> Void
    private var connection: Connection?
    private var reader: RESPReader?
    private var backoff = Backoff(base: 1, limit: 30)
    private var retry: Timer?
    private(set) var isConnected = false
    private var isClosed = false

    init(loop: EventLoop, settings: RedisSettings, _ events: @escaping (Event) -> Void) {
        self.loop = loop
        self.settings = settings
        self.events = events
    }

    func open() {
        guard !isClosed else { return }
        let target = ConnectionTarget(
            domain: settings.host, override: (host: settings.host, port: settings.port),
            directTLS: settings.isSecured ? .only : .never)
        let tls = TLSSettings(serverName: settings.host, caFile: settings.caFile, alpn: [])
        let connection = Connection(loop: loop, target: target, tls: tls) { [weak self] in self?.happened($0) }
        self.connection = connection
        reader = try? RESPReader()
        connection.open()
    }

    func perform(_ action: RedisAction) {
        switch action {
        case .send(let commands):
            guard isConnected, let connection else { return }
            for command in commands { if let bytes = command.bytes { connection.send(bytes) } }
            if connection.unsent > Self.unsentLimit { lose("the server takes nothing") }
        case .drop(let reason, let rest): lose(reason, rest: rest)
        }
    }

    /// Replies arrive as expected: the next loss begins a new back-off.
    func isWell() { backoff.reset() }

    func close() {
        isClosed = true
        retry?.cancel()
        connection?.abort()
        connection = nil
        isConnected = false
    }

    private func happened(_ event: ConnectionEvent) {
        switch event {
        case .connected:
            isConnected = true
            events(.connected)
        case .received(let bytes): receive(bytes)
        case .secured, .ticket, .drained: break
        case .failed(let failure): lose("\(failure)")
        case .closed(let error): lose(error?.description ?? "the server has closed the connection")
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let current = connection
        do throws(RESPReader.Problem) {
            guard let reader else { throw RESPReader.Problem(description: "no memory") }
            try reader.feed(bytes) { reply in
                // A reply may have ended the connection.
                if connection === current, current != nil { events(.reply(reply)) }
            }
        } catch {
            lose("\(error)", rest: 30_000)
        }
    }

    private func lose(_ reason: String, rest: Milliseconds = 0) {
        guard !isClosed, connection != nil else { return }
        connection?.abort()
        connection = nil
        reader = nil
        isConnected = false
        events(.disconnected(reason))
        let wait = max(backoff.next(random: .random(in: 0.5..<1)), Double(rest) / 1000)
        retry = loop.schedule(after: wait) { [weak self] in self?.open() }
    }
}
