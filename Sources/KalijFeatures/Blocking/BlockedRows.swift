import KalijAddress
import KalijCore
import KalijStore
import KalijText

extension SparseTable {
    fileprivate static let blocked = SparseTable(anyRow: "SELECT 1 FROM blocked LIMIT 1")
}

/// The stored blocklist of an account. Readable outside a step, too.
package struct BlockedRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// All blocked addresses, sorted.
    package func all() throws -> [JID] {
        try database.statement("SELECT jid FROM blocked WHERE account = ? ORDER BY jid")
            .all([.integer(account)]) { .received($0.text()) }
    }

    /// Whether `jid` is blocked: by its full or bare address, or by its domain (XEP-0191 section 6).
    package func isBlocked(_ jid: JID) throws -> Bool {
        guard try !database.isKnownEmpty(.blocked), try SessionRow.history(of: account, in: database).isBlocking else {
            return false
        }
        let domain = jid.domain
        let forms = [jid.description, jid.bare.description, jid.resource.map { "\(domain)/\($0)" } ?? domain, domain]
        return try database.statement("SELECT 1 FROM blocked WHERE account = ? AND jid IN (?, ?, ?, ?) LIMIT 1")
            .first([.integer(account)] + forms.map { .text($0) }) { _ in true } ?? false
    }

    /// The senders in a conversation whose messages are blocked.
    package enum Senders: Equatable {
        case all
        /// Only these clients, by their full addresses.
        case clients([String])
    }

    /// The blocked senders in the conversation with `contact`, a bare address.
    package func senders(in contact: JID) throws -> Senders {
        let all = try all()
        if all.contains(where: { $0 == contact || $0.description.exact == contact.domain.exact }) { return .all }
        return .clients(
            all.compactMap { jid in
                // An entry `domain/resource` blocks that resource of each address at the domain.
                guard let resource = jid.resource,
                    jid.bare == contact || jid.bare.description.exact == contact.domain.exact
                else {
                    return nil
                }
                return "\(contact)/\(resource)"
            })
    }

    /// - Returns: false if `jid` was blocked already.
    func add(_ jid: JID) throws -> Bool {
        try database.run(
            "INSERT OR IGNORE INTO blocked(account, jid) VALUES (?, ?)", [.integer(account), .text(jid.description)],
            into: .blocked)
        guard database.changes > 0 else { return false }
        try SessionRow.set(isBlocking: true, of: account, in: database)
        return true
    }

    /// - Returns: false if `jid` was not blocked.
    func remove(_ jid: JID) throws -> Bool {
        try database.run(
            "DELETE FROM blocked WHERE account = ? AND jid = ?", [.integer(account), .text(jid.description)])
        guard database.changes > 0 else { return false }
        try SessionRow.set(isBlocking: !all().isEmpty, of: account, in: database)
        return true
    }

    /// The server's abilities as last discovered; nil if they were never discovered.
    func abilities() throws -> (isOffered: Bool, takesReports: Bool)? {
        try database.statement("SELECT offered, reports FROM blocklist WHERE account = ?")
            .first([.integer(account)]) { ($0.bool("offered"), $0.bool("reports")) }
    }

    func set(isOffered: Bool, takesReports: Bool) throws {
        try database.run(
            "INSERT OR REPLACE INTO blocklist(account, offered, reports) VALUES (?, ?, ?)",
            [.integer(account), .integer(isOffered ? 1 : 0), .integer(takesReports ? 1 : 0)])
    }
}
