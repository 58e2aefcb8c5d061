import KalijAddress
import KalijStore

/// The stored presence of contacts and of the account's other clients. Readable outside a step, too.
package struct PresenceRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// The available clients of a contact, or of the account, in descending order of priority.
    package func clients(of contact: JID) throws -> [ContactPresence] {
        try database.statement(
            """
            SELECT contact, resource, show, status, priority FROM presence
            WHERE account = ? AND contact = ? ORDER BY priority DESC, resource
            """
        ).all([.integer(account), .text(contact.bare.description)]) { ContactPresence($0) }
    }

    /// The presence of the client with the full address `jid`; nil if the client is not available.
    func load(_ jid: JID) throws -> ContactPresence? {
        try database.statement(
            """
            SELECT contact, resource, show, status, priority FROM presence
            WHERE account = ? AND contact = ? AND resource = ?
            """
        ).first([.integer(account), .text(jid.bare.description), .text(jid.resource ?? "")]) { ContactPresence($0) }
    }

    /// - Parameter most: the maximum number of clients kept for the contact. The oldest are removed.
    func store(_ presence: ContactPresence, most: Int64) throws {
        let contact = Value.text(presence.jid.bare.description)
        try database.run(
            """
            INSERT INTO presence(account, contact, resource, show, status, priority) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, contact, resource) DO UPDATE SET show = excluded.show, status = excluded.status,
                priority = excluded.priority
            """,
            [
                .integer(account), contact, .text(presence.jid.resource ?? ""), .text(presence.show),
                .optional(presence.status), .integer(Int64(presence.priority)),
            ])
        try database.run(
            """
            DELETE FROM presence WHERE id IN (SELECT id FROM presence WHERE account = ? AND contact = ?
                ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.integer(account), contact, .integer(most)])
    }

    func remove(_ jid: JID) throws {
        try database.run(
            "DELETE FROM presence WHERE account = ? AND contact = ? AND resource = ?",
            [.integer(account), .text(jid.bare.description), .text(jid.resource ?? "")])
    }

    func removeAll(of contact: JID) throws {
        try database.run(
            "DELETE FROM presence WHERE account = ? AND contact = ?",
            [.integer(account), .text(contact.bare.description)])
    }

    func removeAll() throws { try database.run("DELETE FROM presence WHERE account = ?", [.integer(account)]) }
}

extension ContactPresence {
    /// Reads a row with all columns of a presence.
    fileprivate init(_ row: Row) {
        self.init(
            jid: .received(row.text("contact") + "/" + row.text("resource")), show: row.text("show"),
            status: row.optionalText("status"), priority: Int(row.integer("priority")))
    }
}
