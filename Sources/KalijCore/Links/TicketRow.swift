import KalijStore

/// The last TLS session ticket of an account's server (RFC 8446, 4.6.1), and whether the server accepts tickets: many servers send
/// tickets and refuse them, which costs the bytes of the ticket at each connection.
package struct TicketRow {
    private let database: Database
    private let account: Value

    package init(_ database: Database, of account: Int64) {
        (self.database, self.account) = (database, .integer(account))
    }

    /// In milliseconds: a server that has refused a ticket is offered another one after a week.
    private static let pause: Int64 = 7 * 24 * 3600 * 1000

    /// Whether a ticket is useful: the server has accepted the last one, or is to be tried.
    package func isUseful(at now: Int64) throws -> Bool {
        let row = try database.prepare("SELECT taken, tried_at FROM tls_ticket WHERE account = ?")
            .first([account]) { ($0.bool("taken"), $0.optionalInteger("tried_at")) }
        guard let row, !row.0, let tried = row.1 else { return true }
        // A clock that was set back must not put off the next trial for years.
        return now.subtractingReportingOverflow(tried).partialValue >= Self.pause || now < tried
    }

    /// Whether there is a ticket.
    package var isAny: Bool {
        get throws {
            try database.prepare("SELECT ticket IS NOT NULL FROM tls_ticket WHERE account = ?")
                .first([account]) { $0.bool() } ?? false
        }
    }

    /// Whether the server has accepted the last ticket offered.
    package var isAccepted: Bool {
        get throws {
            try database.prepare("SELECT taken FROM tls_ticket WHERE account = ?").first([account]) { $0.bool() }
                ?? false
        }
    }

    /// Takes the ticket out for the next connection: a ticket is used once (RFC 8446, C.4).
    package func consume(at now: Int64) throws -> [UInt8]? {
        guard try isUseful(at: now) else { return nil }
        let ticket =
            try database.prepare("SELECT ticket FROM tls_ticket WHERE account = ?")
            .first([account]) { $0.optionalBlob("ticket") } ?? nil
        if ticket != nil { try database.run("UPDATE tls_ticket SET ticket = NULL WHERE account = ?", [account]) }
        return ticket
    }

    /// A ticket was offered: records whether the server has accepted it.
    package func offered(isTaken: Bool, at now: Int64) throws {
        try database.run(
            """
            INSERT INTO tls_ticket(account, taken, tried_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (account) DO UPDATE SET taken = excluded.taken, tried_at = excluded.tried_at
            """, [account, .integer(isTaken ? 1 : 0), isTaken ? .null : .integer(now)])
    }

    /// The server has given a ticket.
    package func store(_ ticket: [UInt8]) throws {
        try database.run(
            """
            INSERT INTO tls_ticket(account, ticket) VALUES (?1, ?2)
            ON CONFLICT (account) DO UPDATE SET ticket = excluded.ticket
            """, [account, .blob(ticket)])
    }

    package func remove() throws { try database.run("DELETE FROM tls_ticket WHERE account = ?", [account]) }
}
