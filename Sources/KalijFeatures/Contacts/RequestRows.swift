import KalijAddress
import KalijStore

/// The stored subscription requests, and the addresses approved in advance. Readable outside a step, too.
package struct RequestRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// The pending requests, oldest first.
    package func all() throws -> [ContactRequest] {
        try database.statement(
            "SELECT jid, status, at FROM subscription_request WHERE account = ? ORDER BY id LIMIT 1000"
        )
        .all([.integer(account)]) { ContactRequest($0) }
    }

    func request(of jid: JID) throws -> ContactRequest? {
        try database.statement("SELECT jid, status, at FROM subscription_request WHERE account = ? AND jid = ?")
            .first([.integer(account), .text(jid.description)]) { ContactRequest($0) }
    }

    /// The number of pending requests.
    func count() throws -> Int64 {
        try database.statement("SELECT count(*) FROM subscription_request WHERE account = ?")
            .first([.integer(account)]) { $0.integer() } ?? 0
    }

    /// The addresses of the requesters, oldest request first.
    func requesters() throws -> [JID] {
        try database.statement("SELECT jid FROM subscription_request WHERE account = ? ORDER BY id LIMIT 1000")
            .all([.integer(account)]) { .received($0.text()) }
    }

    func store(_ request: ContactRequest) throws {
        try database.run(
            "INSERT INTO subscription_request(account, jid, status, at) VALUES (?, ?, ?, ?)",
            [
                .integer(account), .text(request.jid.description), .optional(request.status), .integer(request.at),
            ])
    }

    func remove(_ jid: JID) throws {
        try database.run(
            "DELETE FROM subscription_request WHERE account = ? AND jid = ?",
            [.integer(account), .text(jid.description)])
    }

    /// Removes the requests of contacts that are subscribed by now.
    func removeGranted() throws -> [ContactRequest] {
        try database.statement(
            """
            DELETE FROM subscription_request WHERE account = ?1 AND (SELECT subscription IN ('from', 'both') FROM contact
                WHERE account = ?1 AND jid = subscription_request.jid) RETURNING jid, status, at
            """
        ).all([.integer(account)]) { ContactRequest($0) }
    }

    // MARK: Approvals

    /// Whether the user has approved a subscription of `jid` in advance.
    func isApproved(_ jid: JID) throws -> Bool {
        try database.statement("SELECT 1 FROM approval WHERE account = ? AND jid = ?")
            .first([.integer(account), .text(jid.description)]) { _ in true } ?? false
    }

    func approve(_ jid: JID) throws {
        try database.run(
            "INSERT OR IGNORE INTO approval(account, jid) VALUES (?, ?)",
            [.integer(account), .text(jid.description)])
    }

    func removeApproval(of jid: JID) throws {
        try database.run(
            "DELETE FROM approval WHERE account = ? AND jid = ?", [.integer(account), .text(jid.description)])
    }

    /// Removes the approvals that were used, or that the server has recorded.
    func removeUsedApprovals() throws {
        try database.run(
            """
            DELETE FROM approval WHERE account = ?1 AND (SELECT approved OR subscription IN ('from', 'both') FROM contact
                WHERE account = ?1 AND jid = approval.jid)
            """, [.integer(account)])
    }
}

extension ContactRequest {
    fileprivate init(_ row: Row) {
        self.init(
            jid: .received(row.text("jid")), status: row.optionalText("status"), at: row.integer("at"))
    }
}
