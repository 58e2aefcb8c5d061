import KalijFeatures
import KalijSteps
import KalijStream
import KalijTransport

/// The steps around a login: what is used up before, and what is learned.
struct LoginSteps {
    let runner: StepRunner
    let account: Account

    /// Prepares a connection. Tokens are counted, and the ticket is taken out, before anything leaves.
    func approach() throws -> ConnectionPlan {
        let (database, now) = (runner.database, runner.now)
        let accounts = AccountTable(database)
        let (tokens, tickets) = (LoginTokens(database, of: account.id), TicketRow(database, of: account.id))
        let known = try EndpointRow.last(of: account.id, in: database)
        var approach = ConnectionPlan(
            remembered: known.flatMap { $0.isFresh(at: now) ? $0.endpoint : nil },
            link: known?.link ?? LinkMeasurement(),
            wantsTicket: try tickets.isWanted(at: now), userAgent: try accounts.userAgent(of: account.id),
            pins: try accounts.pins(of: account.id) ?? account.pins)
        guard try approach.userAgent == nil || tokens.isAny || tickets.isAny else { return approach }
        let name = approach.userAgent ?? UserAgent.new()
        var used: ([FASTToken], [UInt8]?) = ([], nil)
        do {
            _ = try runner.run("approach", for: account) { step in
                if approach.userAgent == nil { try accounts.set(userAgent: name, of: account.id) }
                used = (try tokens.begin(), try tickets.take(at: now))
            }
            // A power failure must not bring back a ticket that was used (RFC 8446, C.4).
            if used.1 != nil { try runner.raiseBarrier() }
            (approach.userAgent, approach.tokens, approach.ticket) = (name, used.0, used.1)
        } catch {
            // A database that cannot be written keeps nobody from logging in with the password's keys.
            return approach
        }
        return approach
    }

    /// What is known of the server at `endpoint`.
    func known(_ endpoint: Endpoint) throws -> EndpointRow? {
        try EndpointRow.load(.init(endpoint), of: account.id, from: runner.database)
    }

    /// What was learned of the server at `endpoint`; nothing at a new address.
    func server(at endpoint: Endpoint) throws -> KnownServer { try known(endpoint)?.server ?? KnownServer() }

    func learned(_ server: KnownServer, at endpoint: Endpoint) throws {
        _ = try runner.run("learned", for: account) { step in
            try EndpointRow.learn(server, at: endpoint, of: account.id, now: step.now, in: step.database)
        }
    }

    /// There is a session at `endpoint`.
    /// - Parameter isFound: whether the DNS has told the address, and it was not remembered.
    func reached(
        _ endpoint: Endpoint, _ link: LinkMeasurement, _ login: EndpointRow.LoginCost, isFound: Bool = true
    ) throws {
        _ = try runner.run("link", for: account) { step in
            try EndpointRow.note(
                endpoint, link, login, isFound: isFound, at: step.now, of: account.id, in: step.database)
        }
    }

    /// A ticket was offered.
    func ticketOffered(isTaken: Bool) throws {
        _ = try runner.run("ticket", for: account) { step in
            try TicketRow(step.database, of: account.id).offered(isTaken: isTaken, at: step.now)
        }
    }

    /// The server has given a ticket.
    func store(ticket: [UInt8]) throws {
        _ = try runner.run("ticket", for: account) { try TicketRow($0.database, of: account.id).store(ticket) }
    }

    /// The server has given a token. The token is on the disk before anything else leaves: a server may forget the token before
    /// once the new one is acknowledged by its use.
    func store(_ token: FASTToken) throws {
        _ = try runner.run("token", for: account) { try LoginTokens($0.database, of: account.id).add(token) }
        try runner.raiseBarrier()
    }

    func refused(_ token: FASTToken) throws {
        _ = try runner.run("token", for: account) { try LoginTokens($0.database, of: account.id).refused(token) }
    }
}
