import KalijCore
import KalijStream
import KalijTransport

/// The steps around a login: what it consumes, and what is learned from it.
package struct LoginSteps {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) { (self.runner, self.account) = (runner, account) }

    /// Prepares a connection. The tokens' counters are advanced, and the ticket is removed, before anything is sent.
    package func approach() throws -> ConnectionPlan {
        let (database, now) = (runner.database, runner.now)
        let accounts = AccountTable(database)
        let (tokens, tickets) = (LoginTokens(database, of: account.id), TicketRow(database, of: account.id))
        let known = try EndpointRow.last(of: account.id, in: database)
        var approach = ConnectionPlan(
            remembered: known.flatMap { $0.isFresh(at: now) ? $0.endpoint : nil },
            link: known?.link ?? LinkMeasurement(),
            wantsTicket: try tickets.isUseful(at: now), userAgent: try accounts.userAgent(of: account.id),
            pins: try accounts.pins(of: account.id) ?? account.pins)
        guard try approach.userAgent == nil || tokens.isAny || tickets.isAny else { return approach }
        let name = approach.userAgent ?? UserAgent.new()
        var used: ([FASTToken], [UInt8]?) = ([], nil)
        do {
            _ = try runner.run("approach", for: account) { step in
                if approach.userAgent == nil { try accounts.set(userAgent: name, of: account.id) }
                used = (try tokens.begin(), try tickets.consume(at: now))
            }
            // A power failure must not restore a ticket that was used (RFC 8446 appendix C.4).
            if used.1 != nil { try runner.raiseBarrier() }
            (approach.userAgent, approach.tokens, approach.ticket) = (name, used.0, used.1)
        } catch {
            // A database that cannot be written does not prevent a login with the password's keys.
            return approach
        }
        return approach
    }

    /// The stored information about the server at `endpoint`.
    package func known(_ endpoint: Endpoint) throws -> EndpointRow? {
        try EndpointRow.load(.init(endpoint), of: account.id, from: runner.database)
    }

    /// The properties learned of the server at `endpoint`; empty for a new address.
    package func server(at endpoint: Endpoint) throws -> KnownServer { try known(endpoint)?.server ?? KnownServer() }

    package func learned(_ server: KnownServer, at endpoint: Endpoint) throws {
        _ = try runner.run("learned", for: account) { step in
            try EndpointRow.learn(server, at: endpoint, of: account.id, now: step.now, in: step.database)
        }
    }

    /// A session was established at `endpoint`.
    /// - Parameter isFound: whether the address was resolved by DNS, instead of remembered.
    package func reached(
        _ endpoint: Endpoint, _ link: LinkMeasurement, _ login: EndpointRow.LoginCost, isFound: Bool = true
    ) throws {
        _ = try runner.run("link", for: account) { step in
            try EndpointRow.record(
                endpoint, link, login, isFound: isFound, at: step.now, of: account.id, in: step.database)
        }
    }

    /// Records that a ticket was offered.
    package func ticketOffered(isTaken: Bool) throws {
        _ = try runner.run("ticket", for: account) { step in
            try TicketRow(step.database, of: account.id).offered(isTaken: isTaken, at: step.now)
        }
    }

    /// Stores a ticket that the server has issued.
    package func store(ticket: [UInt8]) throws {
        _ = try runner.run("ticket", for: account) { try TicketRow($0.database, of: account.id).store(ticket) }
    }

    /// Stores a token that the server has issued, and makes it durable before anything else is sent: a server may discard the
    /// previous token once the use of the new one acknowledges it.
    package func store(_ token: FASTToken) throws {
        _ = try runner.run("token", for: account) { try LoginTokens($0.database, of: account.id).add(token) }
        try runner.raiseBarrier()
    }

    package func refused(_ token: FASTToken) throws {
        _ = try runner.run("token", for: account) { try LoginTokens($0.database, of: account.id).refused(token) }
    }
}
