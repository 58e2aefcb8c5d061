import KalijCore
import KalijStore
import KalijStream
import KalijTransport

/// How an account's server was last reached, the measured link, and the properties learned of the server.
public struct LinkStatus: Sendable {
    /// The address of the last session.
    public let endpoint: Endpoint
    /// The smoothed round trip in milliseconds; nil if nothing was measured.
    public let roundTrip: Int?
    /// Arriving bytes a second; nil if nothing was measured.
    public let bytesPerSecond: Int?
    /// Bytes sent and received until the last session was established, TLS included, and the time in milliseconds; nil if there
    /// was no session.
    public let lastLogin: (sent: Int, received: Int, milliseconds: Int)?
    /// The minimum security that each login requires.
    public let pins: DowngradePins
    /// The elements that are pipelined, before the server requests them.
    public let unasked: Set<EarlyStep>
    /// The elements that failed when they were pipelined.
    public let turnedOff: Set<EarlyStep>
    /// Whether there is a token for a login in one flight (XEP-0484).
    public let hasToken: Bool
    /// Whether the server accepted the last TLS session ticket that was offered.
    public let takesTickets: Bool

    /// Nil if there was no session yet.
    init?(_ account: Account, _ database: Database) throws {
        guard let row = try EndpointRow.last(of: account.id, in: database) else { return nil }
        endpoint = row.endpoint
        roundTrip = row.link.roundTrip.map { Int(($0 * 1000).rounded()) }
        bytesPerSecond = row.link.bytesPerSecond.map { Int($0) }
        lastLogin = row.lastLogin.map { ($0.sent, $0.received, $0.milliseconds) }
        pins = account.pins
        let server = row.server
        var letters: Set<EarlyStep> = server.worked
        if server.offersTLS { letters.insert(.startTLS) }
        if server.login != nil { letters.insert(.login) }
        (unasked, turnedOff) = (letters.subtracting(server.off), server.off)
        hasToken = try LoginTokens(database, of: account.id).isAny
        takesTickets = try TicketRow(database, of: account.id).isAccepted
    }
}
