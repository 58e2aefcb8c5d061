import KalijAddress
import KalijSteps
import KalijStream
import KalijTransport
import KalijXML

import FoundationEssentials

/// A connection to a server with the stream: the inbox, and the negotiation of a session.
final class Line {
    enum Event {
        case connected(secured: Bool)
        case secured
        /// The ``inbox`` is to be handled.
        case arrived
        /// The system has taken all bytes sent.
        case drained
        case failed(ConnectFailure)
        case closed(TransportError?)
    }

    /// How many bytes may wait for the system before the queue waits, too.
    private static let unsentLimit = 256 * 1024

    /// The receiver of events.
    var onEvent: (Event) -> Void = { _ in }
    private(set) var inbox = Inbox()
    /// Whether there is a session: then the events of one turn of the loop are handled together.
    var isInSession = false
    private var negotiation: Negotiation
    private var parser = StreamParser()
    private var connection: (any StreamConnection)?
    /// Whether the inbox is delivered in the loop's next turn.
    private var isPlanned = false
    /// When the inbox is delivered although the rest of the page has not come.
    private var gathering: Timer?
    private let loop: any Schedule
    private let page: Double

    /// - Parameter page: how long results of an archive's page wait for the rest of the page, in seconds.
    init(_ configuration: Negotiation.Configuration, on loop: any Schedule, page: Double = 0) {
        negotiation = Negotiation(configuration)
        (self.loop, self.page) = (loop, page)
    }

    /// Opens the connection that `connect` makes.
    func open(_ connect: (@escaping (ConnectionEvent) -> Void) -> any StreamConnection) {
        let connection = connect { [weak self] in self?.handle($0) }
        self.connection = connection
        connection.open()
    }

    /// Ends the connection; nothing is told any more.
    func close(_ finished: (() -> Void)? = nil) {
        let connection = connection
        self.connection = nil
        forgetPlans()
        inbox.clear()
        connection?.close(finished)
    }

    // MARK: Receiving

    private func handle(_ event: ConnectionEvent) {
        switch event {
        case .connected(_, let tls): onEvent(.connected(secured: tls != nil))
        case .secured: onEvent(.secured)
        case .received(let bytes): receive(bytes)
        case .drained: onEvent(.drained)
        case .failed(let failure): end(.failed(failure))
        case .closed(let error): end(.closed(error))
        }
    }

    /// Events from before the end are handled first.
    private func end(_ event: Event) {
        deliverPlanned()
        if connection != nil { onEvent(event) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        do {
            try parser.feed(bytes) { inbox.append($0) }
        } catch {
            inbox.fail(error)
        }
        let turn = isInSession ? inbox.turn(gathers: page > 0) : .now
        switch turn {
        case .now: deliver()
        case _ where isPlanned: break
        case .next:
            isPlanned = true
            loop.enqueue { [weak self] in self?.deliverPlanned() }
        case .withPage: gathering = gathering ?? loop.schedule(after: page) { [weak self] in self?.deliverPlanned() }
        }
    }

    /// Delivers the inbox, if a delivery was planned.
    func deliverPlanned() {
        if isPlanned || gathering != nil { deliver() }
    }

    /// Delivers the inbox.
    func deliver() {
        forgetPlans()
        onEvent(.arrived)
    }

    private func forgetPlans() {
        isPlanned = false
        gathering?.cancel()
        gathering = nil
    }

    /// So many of the events in the inbox are handled.
    func take(_ number: Int = 1) { inbox.removeFirst(number) }

    /// So many of the events in the inbox are to be handled one by one.
    func handleAlone(_ number: Int) { inbox.handleAlone(number) }

    /// Whether anything is read.
    var isReading: Bool {
        get { connection?.isReading ?? true }
        set { connection?.isReading = newValue }
    }

    // MARK: Negotiating

    /// Whether the connection would end between `<resume/>` and its answer.
    var isResumePending: Bool { negotiation.isResumePending }

    /// Gives the negotiation an event. Actions about bytes are done here, other actions are the owner's.
    func negotiate(_ event: Negotiation.Event, _ perform: (Negotiation.Action) throws -> Void) throws {
        for action in try negotiation.handle(event) {
            switch action {
            case .send(let bytes): send(bytes)
            case .startTLS: connection?.startTLS()
            case .restartParser:
                parser = StreamParser()
                inbox.clear()
            default: try perform(action)
            }
        }
    }

    // MARK: Sending

    /// Bytes that the system has not taken yet.
    var unsent: Int { connection?.unsent ?? 0 }

    /// Whether more can be sent without filling memory.
    var hasRoom: Bool { connection.map { $0.unsent < Self.unsentLimit } ?? false }

    func send(_ bytes: [UInt8]) { connection?.send(bytes) }
}

extension Negotiation.Event {
    /// The negotiation's event for an event of the stream.
    init(_ event: StreamParserEvent) throws(StreamFailure) {
        switch event {
        case .opened(let header): self = .opened(header)
        case .element(let element): self = .element(element)
        case .closed: self = .closed
        case .skipped(let skipped):
            throw .beforeSession("a <\(skipped.name)/> over the limit on \(skipped.limit)")
        }
    }
}

extension Negotiation.Configuration {
    init(_ account: Account, _ credentials: Credentials) {
        self.init(account.jid, credentials, weakest: account.mechanism)
    }

    /// - Parameter weakest: the mechanism of an earlier login; nil before the first login.
    init(_ jid: JID, _ credentials: Credentials, weakest: SASLMechanism? = nil) {
        self.init(
            account: jid.bare, credentials: credentials, nonce: UUID().uuidString + UUID().uuidString,
            weakestMechanism: weakest)
    }
}
