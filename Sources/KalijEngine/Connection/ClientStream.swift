import KalijAddress
import KalijCore
import KalijStream
import KalijTransport
import KalijXML

import FoundationEssentials

/// A connection to a server with its XML stream: the inbox, and the negotiation of a session.
package final class ClientStream {
    package enum Event {
        case connected(Endpoint, TLSInfo?)
        case secured(TLSInfo)
        /// The server has issued a session ticket for a later connection.
        case ticket([UInt8])
        /// The ``inbox`` is to be handled.
        case arrived
        /// The system has accepted all bytes sent.
        case drained
        case failed(ConnectFailure)
        case closed(TransportError?)
    }

    /// How many unsent bytes the connection may hold before the queue waits, too.
    private static let unsentLimit = 256 * 1024

    /// Receives the events.
    package var onEvent: (Event) -> Void = { _ in }
    package var inbox = Inbox()
    /// Whether there is a session, in which the events of one turn of the loop are handled together.
    package var isInSession = false {
        didSet { if isInSession, let traffic = connection?.traffic { meter.loggedIn(traffic, at: loop.now) } }
    }
    package private(set) var negotiation: Negotiation
    private var parser = StreamParser()
    private var connection: (any StreamConnection)?
    /// Whether delivery of the inbox is scheduled for the loop's next turn.
    private var isPlanned = false
    /// Fires when the inbox is delivered although the page is incomplete.
    private var gathering: Timer?
    private let loop: any Scheduler
    private let page: Double
    package private(set) var meter: LinkMeter
    /// Whether nothing was received yet.
    private var isFresh = true
    private var ending: StreamCloser?

    /// - Parameters:
    ///   - page: how long results of an archive page wait for the rest of the page, in seconds.
    ///   - link: the link as measured on an earlier connection.
    package init(
        _ configuration: Negotiation.Configuration, on loop: any Scheduler, page: Double = 0,
        link: LinkMeasurement = LinkMeasurement()
    ) {
        negotiation = Negotiation(configuration)
        parser.expectNextStream()
        meter = LinkMeter(link)
        (self.loop, self.page) = (loop, page)
    }

    /// Opens the connection that `connect` creates.
    package func open(_ connect: (@escaping (ConnectionEvent) -> Void) -> any StreamConnection) {
        let connection = connect { [weak self] in self?.handle($0) }
        self.connection = connection
        meter.begin(at: loop.now)
        connection.open()
    }

    /// Closes the connection; no event is emitted afterwards.
    /// - Parameters:
    ///   - seconds: how long the server may take to respond to the end of the stream; nil closes the connection without ending
    ///     the stream.
    ///   - finished: called on the loop at the end, with whether the server responded to the end of the stream.
    package func close(endingStreamWithin seconds: Double? = nil, _ finished: ((Bool) -> Void)? = nil) {
        let connection = connection
        self.connection = nil
        forgetPlans()
        inbox.clear()
        guard let seconds, let connection else {
            connection?.close(finished.map { finished in { finished(false) } })
            return
        }
        connection.send(StreamManagement.end)
        connection.isReading = true
        ending = StreamCloser(parser, on: loop, within: seconds) { [self] isAnswered in
            ending = nil
            connection.close { finished?(isAnswered) }
        }
    }

    // MARK: Receiving

    private func handle(_ event: ConnectionEvent) {
        if let ending { return ending.handle(event) }
        switch event {
        case .connected(let endpoint, let tls):
            tls?.times.map { meter.secured($0) }
            onEvent(.connected(endpoint, tls))
        case .secured(let tls):
            tls.times.map { meter.secured($0) }
            onEvent(.secured(tls))
        case .ticket(let ticket): onEvent(.ticket(ticket))
        case .received(let bytes): receive(bytes)
        case .drained: onEvent(.drained)
        case .failed(let failure): end(.failed(failure))
        case .closed(let error): end(.closed(error))
        }
    }

    /// Events received before the end are handled first.
    private func end(_ event: Event) {
        deliverPlanned()
        if connection != nil { onEvent(event) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        do {
            if isFresh, bytes.starts(with: "HTTP/".utf8) { throw StreamFailure.http }
            isFresh = false
            try parser.feed(bytes) { inbox.append($0) }
        } catch {
            inbox.fail(error)
        }
        let turn = isInSession ? inbox.turn(gathers: page > 0) : .now
        if !isInSession { roundTripEnded() }
        meter.arrived(bytes.count, isMoreExpected: turn == .withPage, at: loop.now)
        switch turn {
        case .now: deliver()
        case _ where isPlanned: break
        case .next:
            isPlanned = true
            loop.enqueue { [weak self] in self?.deliverPlanned() }
        case .withPage: gathering = gathering ?? loop.schedule(after: page) { [weak self] in self?.deliverPlanned() }
        }
    }

    /// Delivers the inbox, if a delivery is scheduled.
    package func deliverPlanned() {
        if isPlanned || gathering != nil { deliver() }
    }

    /// Delivers the inbox.
    package func deliver() {
        forgetPlans()
        onEvent(.arrived)
    }

    private func forgetPlans() {
        isPlanned = false
        gathering?.cancel()
        gathering = nil
    }

    /// Whether the connection reads.
    package var isReading: Bool {
        get { connection?.isReading ?? true }
        set { connection?.isReading = newValue }
    }

    // MARK: Measuring

    /// A request is sent whose response follows everything that the server sent before.
    package func roundTripBegan() { meter.roundTripBegan(at: loop.now) }

    /// The response was received, or is no longer expected.
    package func roundTripEnded() {
        meter.roundTripEnded(at: loop.now)
        meter.noticed(connection?.roundTrip)
    }

    // MARK: Negotiating

    /// Passes an event to the negotiation. Actions that concern bytes are performed here, the others by `perform`.
    package func negotiate(_ event: Negotiation.Event, _ perform: (Negotiation.Action) throws -> Void) throws {
        for action in try negotiation.handle(event) {
            switch action {
            case .send(let bytes):
                meter.roundTripBegan(at: loop.now)
                send(bytes)
            case .startTLS: connection?.startTLS()
            case .restartParser(let keepingRest):
                // After SASL the parser has already started the new stream.
                guard !keepingRest else { continue }
                parser = StreamParser()
                parser.expectNextStream()
                inbox.clear()
            default: try perform(action)
            }
        }
    }

    // MARK: Sending

    /// Bytes that the system has not accepted yet.
    package var unsent: Int { connection?.unsent ?? 0 }

    /// Whether more can be sent without unbounded buffering.
    package var hasRoom: Bool { connection.map { $0.unsent < Self.unsentLimit } ?? false }

    package func send(_ bytes: [UInt8]) { connection?.send(bytes) }
}

extension StreamParser {
    /// Prepares for the new stream that starts after SASL.
    fileprivate func expectNextStream() {
        expectRestart(after: Negotiation.lastElement.name, Negotiation.lastElement.namespace)
    }
}

extension Negotiation.Event {
    /// The negotiation's event for an event of the stream.
    package init(_ event: StreamParserEvent) throws(StreamFailure) {
        switch event {
        case .opened(let header): self = .opened(header)
        case .element(let element): self = .element(element)
        case .closed: self = .closed
        case .skipped(let skipped):
            throw .beforeSession("a <\(skipped.name)/> over the limit on \(skipped.limit)")
        }
    }
}

extension ChannelBindings {
    /// The channel binding data of a TLS connection.
    package init(_ tls: TLSInfo) {
        var data: [Kind: [UInt8]] = [:]
        data[.tlsExporter] = tls.tlsExporter
        data[.tlsServerEndPoint] = tls.serverEndPoint
        self.init(data)
    }
}

extension Negotiation.Configuration {
    package init(_ account: Account, _ credentials: Credentials, _ approach: ConnectionPlan, now: Int64) {
        self.init(account.jid, credentials, pins: approach.pins)
        (userAgent, tokens, self.now) = (approach.userAgent, approach.tokens, now)
    }

    /// - Parameter pins: the minimum security of the login; empty before the first login.
    package init(_ jid: JID, _ credentials: Credentials, pins: DowngradePins = DowngradePins()) {
        self.init(
            account: jid.bare, credentials: credentials, nonce: Self.nonce(), pins: pins)
    }
}

extension Negotiation.Configuration {
    /// 144 random bits. SCRAM transmits the nonce three times, in base64 of base64: each byte costs five on a slow link.
    private static func nonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<18).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
    }
}

/// The user-agent id of a directory (XEP-0388 section 2.2).
package enum UserAgent {
    package static func new() -> String { UUID().uuidString.lowercased() }
}
