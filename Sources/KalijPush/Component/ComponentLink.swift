import KalijStream
import KalijTransport
import KalijXML

/// Keeps a component connected to its XMPP server, and reads and writes stanzas.
///
/// After a loss the link connects again, with back-off and jitter. Responses wait for the new connection, as far as there is
/// room: the requester matches the iq's id, not the connection.
final class ComponentLink {
    enum Event {
        case up
        case down(String)
        case stanza(Element)
        /// A stanza over a limit.
        case skipped(SkippedElement)
    }

    private let loop: EventLoop
    private var settings: ComponentSettings
    private let limits: ParserLimits
    private let events: (Event) -> Void
    private var connection: Connection?
    private var parser: StreamParser
    private var handshake: ComponentHandshake
    private(set) var isUp = false
    private var isStopped = false
    private var backoff: Backoff
    private var retry: Timer?
    private var handshakeTimer: Timer?
    private var keepalive: Timer?
    private var waiting: [UInt8] = []
    private var output: [UInt8] = []
    private var isFlushPlanned = false
    /// Whether stanzas are read.
    var isReading = true {
        didSet { applyReading() }
    }

    /// The limit for waiting answers without a connection, in bytes.
    private static let waitingLimit = 4 << 20
    /// The limit for answers not yet taken by the server, in bytes; above this limit nothing more is read.
    private static let unsentLimit = 1 << 20

    init(
        loop: EventLoop, settings: ComponentSettings, reconnect: Milliseconds, stanzaBytes: Int,
        _ events: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.settings = settings
        self.events = events
        limits = ParserLimits(
            stanzaBytes: stanzaBytes, depth: 32, attributes: 64, children: 256, elements: 1_024, prefixBytes: 0)
        parser = StreamParser(limits: limits)
        handshake = ComponentHandshake(hostname: settings.hostname, key: settings.key)
        backoff = Backoff(base: 1, limit: Double(reconnect) / 1000)
    }

    func open() {
        guard !isStopped else { return }
        parser = StreamParser(limits: limits)
        handshake = ComponentHandshake(hostname: settings.hostname, key: settings.key)
        let target = ConnectionTarget(
            domain: settings.serverHost, override: (host: settings.serverHost, port: settings.serverPort),
            directTLS: .never)
        let connection = Connection(
            loop: loop, target: target, tls: TLSSettings(serverName: settings.serverHost)
        ) { [weak self] in self?.happened($0) }
        self.connection = connection
        connection.open()
        handshakeTimer = loop.schedule(after: 20) { [weak self] in self?.lose("no handshake within 20 s") }
    }

    /// Sends bytes of whole stanzas, or keeps the bytes until there is a connection.
    func send(_ bytes: [UInt8]) {
        guard isUp else {
            if waiting.count + bytes.count <= Self.waitingLimit { waiting += bytes }
            return
        }
        output += bytes
        planFlush()
    }

    /// Other settings from now on; connects anew if they name another server.
    func reload(_ new: ComponentSettings, reconnect: Milliseconds) {
        if Double(reconnect) / 1000 != backoff.limit { backoff = Backoff(base: 1, limit: Double(reconnect) / 1000) }
        guard new != settings else { return }
        settings = new
        let server = Endpoint(
            host: new.serverHost, address: new.serverHost, port: new.serverPort, directTLS: false)
        lose("the settings have changed; connecting to \(server)", inOrder: true)
    }

    /// Ends the stream in order.
    func close(_ finished: @escaping () -> Void) {
        isStopped = true
        retry?.cancel()
        handshakeTimer?.cancel()
        keepalive?.cancel()
        guard isUp, let connection else {
            connection?.abort()
            return loop.enqueue(finished)
        }
        isUp = false
        connection.send(output + Array("</stream:stream>".utf8))
        output = []
        connection.close(finished)
    }

    // MARK: The connection

    private func happened(_ event: ConnectionEvent) {
        switch event {
        case .connected: advance(.connected)
        case .received(let bytes): receive(bytes)
        case .drained: applyReading()
        case .secured, .ticket: break
        case .failed(let failure): lose("\(failure)")
        case .closed(let error): lose(error?.description ?? "the server has closed the connection")
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let current = connection
        do {
            try parser.feed(bytes) { event in
                guard connection === current, current != nil else { return }
                switch event {
                case .opened(let header): advance(.opened(header))
                case .element(let element) where isUp && element.name == "iq": events(.stanza(element))
                case .element(let element): advance(.element(element))
                case .skipped(let element): if isUp { events(.skipped(element)) }
                case .closed: advance(.closed)
                }
            }
        } catch {
            lose("the server's stream: \(error)")
        }
    }

    private func advance(_ event: ComponentHandshake.Event) {
        do throws(ComponentHandshake.Problem) {
            for action in try handshake.handle(event) {
                switch action {
                case .send(let bytes): connection?.send(bytes)
                case .established: establish()
                }
            }
        } catch {
            lose("\(error)", inOrder: true)
        }
    }

    private func establish() {
        isUp = true
        handshakeTimer?.cancel()
        backoff.reset()
        if !isReading { connection?.isReading = false }
        connection?.send(waiting)
        waiting = []
        planKeepalive()
        events(.up)
    }

    /// - Parameter inOrder: the connection still works: its queued bytes are sent before closing.
    private func lose(_ reason: String, inOrder: Bool = false) {
        guard !isStopped, connection != nil else { return }
        handshakeTimer?.cancel()
        keepalive?.cancel()
        if inOrder {
            connection?.send(Array("</stream:stream>".utf8))
            connection?.close()
        } else {
            connection?.abort()
        }
        connection = nil
        // Not given to the lost connection: sent on the next connection.
        if waiting.count + output.count <= Self.waitingLimit { waiting += output }
        output = []
        isUp = false
        events(.down(reason))
        let wait = backoff.next(random: .random(in: 0.5..<1))
        retry = loop.schedule(after: wait) { [weak self] in self?.open() }
    }

    // MARK: Writing

    private func planFlush() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        loop.enqueue { [weak self] in
            guard let self else { return }
            isFlushPlanned = false
            guard isUp else { return }
            connection?.send(output)
            output = []
            applyReading()
        }
    }

    /// While the server does not accept the responses, no further requests are read.
    private func applyReading() {
        guard let connection, isUp else { return }
        connection.isReading = isReading && connection.unsent < Self.unsentLimit
    }

    /// White space between stanzas, so that a lost connection is noticed (RFC 6120, 4.6.1).
    private func planKeepalive() {
        keepalive = loop.schedule(after: 60) { [weak self] in
            guard let self, isUp else { return }
            connection?.send([0x20])
            planKeepalive()
        }
    }
}
