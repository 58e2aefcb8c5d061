import KalijCore
import KalijStream
import KalijTransport

/// The stored information that a connection starts with, and what the attempt consumes.
package struct ConnectionPlan {
    /// The address of the last successful connection.
    package var remembered: Endpoint?
    /// The link to that address, as last measured.
    package var link = LinkMeasurement()
    package var ticket: [UInt8]?
    /// Whether to request a new ticket.
    package var wantsTicket = false
    package var tokens: [FASTToken] = []
    /// The user-agent id of this directory (XEP-0388 section 2.2); nil: the login does not use SASL2.
    package var userAgent: String?
    /// The minimum security that each login requires.
    package var pins: DowngradePins
}

extension Account {
    /// - Parameter approach: the address to try first, and the ticket to offer.
    package func destination(_ approach: ConnectionPlan) -> (ConnectionTarget, TLSSettings) {
        var (target, tls) = (target, tls)
        target.remembered = approach.remembered
        (tls.ticket, tls.wantsTickets) = (approach.ticket, approach.wantsTicket)
        return (target, tls)
    }
}

/// Plans the connections of an account: what each one starts with, what is learned from it, and the silence that ends the
/// attempt.
package final class ConnectionPlanner {
    private let steps: LoginSteps
    private var approach: ConnectionPlan
    /// The address that the connection has reached; nil before.
    private var endpoint: Endpoint?
    /// Whether the network has changed since the connection was started.
    private var isNetworkToBlame = false

    package init(_ steps: LoginSteps) {
        self.steps = steps
        approach = ConnectionPlan(pins: steps.account.pins)
    }

    /// Prepares a connection.
    /// - Parameter withTokens: whether a token may replace the password.
    package func begin(withTokens: Bool) -> ConnectionPlan {
        // A database that cannot be read does not prevent the attempt.
        (approach, endpoint, isNetworkToBlame) = (
            (try? steps.approach()) ?? ConnectionPlan(pins: approach.pins), nil, false
        )
        if !withTokens { approach.tokens = [] }
        return approach
    }

    /// The connection is established.
    /// - Returns: the event for the negotiation.
    package func connected(_ endpoint: Endpoint, _ tls: TLSInfo?) throws -> Negotiation.Event {
        self.endpoint = endpoint
        try tls.map(recordTicket)
        let known = try steps.server(at: endpoint)
        return .connected(secured: tls.map(ChannelBindings.init), known: known)
    }

    /// TLS is established after STARTTLS.
    package func secured(_ tls: TLSInfo) throws -> Negotiation.Event {
        try recordTicket(tls)
        return .secured(ChannelBindings(tls))
    }

    private func recordTicket(_ tls: TLSInfo) throws {
        guard approach.ticket != nil else { return }
        approach.ticket = nil
        // An expired ticket gives no evidence about the server; the next ticket replaces it.
        if tls.hasOfferedTicket { try steps.ticketOffered(isTaken: tls.isResumed) }
    }

    package func learned(_ server: KnownServer) throws { try endpoint.map { try steps.learned(server, at: $0) } }

    /// Stores a ticket for a later connection. A failure is ignored: the next connection works without.
    package func keep(_ ticket: [UInt8]) { try? steps.store(ticket: ticket) }

    /// No address was reached.
    package func failed(_ failure: ConnectFailure) {
        let kinds: [ConnectFailure.Kind] = [.unreachable, .noAnswer, .noSuchName, .noService]
        // The ticket was never transmitted.
        if kinds.contains(failure.kind), let ticket = approach.ticket { keep(ticket) }
        approach.ticket = nil
    }

    /// The network has changed: an outstanding response is attributed to the network, and its timeout is short.
    package func networkChanged() { isNetworkToBlame = true }

    /// Seconds of silence after which the negotiation receives `.silent`; nil before the connection is established, which has
    /// timeouts of its own.
    package func timeout(_ line: ClientStream) -> Double? {
        guard endpoint != nil else { return nil }
        let (measure, negotiation) = (line.meter.measure, line.negotiation)
        if negotiation.isRescuable || isNetworkToBlame { return measure.timeout() }
        return negotiation.suspect == nil ? measure.silence() : measure.letter
    }

    /// The connection has failed. If a pipelined element has no valid response yet, it is no longer pipelined with this server,
    /// and the next connection negotiates step by step. Such a failure is attributed neither to the network nor to a failed
    /// resumption.
    /// - Returns: whether a pipelined element is suspected, so that the next connection is to be made at once.
    package func disableEarlyStep(of line: ClientStream) -> Bool {
        guard !isNetworkToBlame, let letter = line.negotiation.suspect, let endpoint else { return false }
        do {
            let known = try steps.server(at: endpoint)
            try steps.learned(known.turningOff(letter), at: endpoint)
        } catch { return false }
        return true
    }

    /// Records how the server was reached, and the measured link.
    package func record(_ line: ClientStream) {
        guard let endpoint, let cost = line.meter.login else { return }
        // If the write fails, the next connection measures the same again.
        try? steps.reached(endpoint, line.meter.measure, cost, isFound: approach.remembered == nil)
    }
}
