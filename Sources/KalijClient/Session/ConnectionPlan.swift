import KalijSteps
import KalijStream
import KalijTransport

/// What a connection begins with: what is known of the server, and what is used up by the attempt.
struct ConnectionPlan {
    /// The address that worked last.
    var remembered: Endpoint?
    /// The link at that address, as measured last.
    var link = LinkMeasurement()
    var ticket: [UInt8]?
    /// Whether a new ticket would be of use.
    var wantsTicket = false
    var tokens: [FASTToken] = []
    /// The name of this directory's client for the server; nil: the login is not by SASL2.
    var userAgent: String?
    /// What no login falls below by now.
    var pins: DowngradePins
}

extension Account {
    /// - Parameter approach: where the connection goes first, and with which ticket.
    func destination(_ approach: ConnectionPlan) -> (ConnectionTarget, TLSSettings) {
        var (target, tls) = (target, tls)
        target.remembered = approach.remembered
        (tls.ticket, tls.wantsTickets) = (approach.ticket, approach.wantsTicket)
        return (target, tls)
    }
}

/// The way of an account's driver to its server: what a connection begins with, what is learned on the way, and when silence ends
/// the attempt.
final class ConnectionPlanner {
    private let steps: LoginSteps
    private var approach: ConnectionPlan
    /// Where the connection has arrived; nil before.
    private var endpoint: Endpoint?
    /// Whether the network has changed since the connection was begun.
    private var isNetworkToBlame = false

    init(_ steps: LoginSteps) {
        self.steps = steps
        approach = ConnectionPlan(pins: steps.account.pins)
    }

    /// Prepares a connection.
    /// - Parameter withTokens: whether a token may take the place of the password.
    func begin(withTokens: Bool) -> ConnectionPlan {
        // A database that cannot be read keeps nobody from trying.
        (approach, endpoint, isNetworkToBlame) = (
            (try? steps.approach()) ?? ConnectionPlan(pins: approach.pins), nil, false
        )
        if !withTokens { approach.tokens = [] }
        return approach
    }

    /// The connection is up.
    /// - Returns: what the negotiation is told.
    func connected(_ endpoint: Endpoint, _ tls: TLSInfo?) throws -> Negotiation.Event {
        self.endpoint = endpoint
        try tls.map(noteTicket)
        let known = try steps.server(at: endpoint)
        return .connected(secured: tls.map(ChannelBindings.init), known: known)
    }

    /// TLS is up after STARTTLS.
    func secured(_ tls: TLSInfo) throws -> Negotiation.Event {
        try noteTicket(tls)
        return .secured(ChannelBindings(tls))
    }

    private func noteTicket(_ tls: TLSInfo) throws {
        guard approach.ticket != nil else { return }
        approach.ticket = nil
        // A ticket that was too old says nothing of the server; the next ticket takes its place.
        if tls.hasOfferedTicket { try steps.ticketOffered(isTaken: tls.isResumed) }
    }

    func learned(_ server: KnownServer) throws { try endpoint.map { try steps.learned(server, at: $0) } }

    /// Keeps a ticket for a later connection. A disk that is full needs none.
    func keep(_ ticket: [UInt8]) { try? steps.store(ticket: ticket) }

    /// No address was reached.
    func failed(_ failure: ConnectFailure) {
        let kinds: [ConnectFailure.Kind] = [.unreachable, .noAnswer, .noSuchName, .noService]
        // Nobody has seen the ticket.
        if kinds.contains(failure.kind), let ticket = approach.ticket { keep(ticket) }
        approach.ticket = nil
    }

    /// The network has changed: what is not answered now is the network's fault, and is not waited for long.
    func networkChanged() { isNetworkToBlame = true }

    /// Seconds of silence after which the negotiation is told; nil before the connection is up, which has limits of its own.
    func patience(_ line: Line) -> Double? {
        guard endpoint != nil else { return nil }
        let (measure, negotiation) = (line.meter.measure, line.negotiation)
        if negotiation.isRescuable || isNetworkToBlame { return measure.timeout() }
        return negotiation.suspect == nil ? measure.silence() : measure.letter
    }

    /// The connection fails. If something that left unasked is not answered as it should be, the next connection goes by steps: the
    /// failure is none of the network's, and no failed resume.
    /// - Returns: whether there was such a letter, so that the next connection is to be made at once.
    func takeBackLetter(of line: Line) -> Bool {
        guard !isNetworkToBlame, let letter = line.negotiation.suspect, let endpoint else { return false }
        do {
            let known = try steps.server(at: endpoint)
            try steps.learned(known.turningOff(letter), at: endpoint)
        } catch { return false }
        return true
    }

    /// Notes how the server was reached, and the link as measured.
    func note(_ line: Line) {
        guard let endpoint, let cost = line.meter.login else { return }
        // If nothing can be written, the next connection learns the same anew.
        try? steps.reached(endpoint, line.meter.measure, cost, isFound: approach.remembered == nil)
    }
}
