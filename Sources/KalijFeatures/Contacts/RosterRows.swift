import KalijAddress
import KalijStore
import KalijText

/// The stored roster of an account. Readable outside a step, too.
package struct RosterRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// Separates groups: XML does not allow this character.
    private static let separator: Unicode.Scalar = "\u{1F}"

    /// All contacts, sorted by address.
    package func all() throws -> [Contact] {
        try database.statement(
            "SELECT jid, name, groups, subscription, asked, approved FROM contact WHERE account = ? ORDER BY jid"
        ).all([.integer(account)]) { Contact($0) }
    }

    /// The contact with the bare address `jid`; nil if there is none.
    package func contact(_ jid: JID) throws -> Contact? {
        try database.statement(
            "SELECT jid, name, groups, subscription, asked, approved FROM contact WHERE account = ? AND jid = ?"
        ).first([.integer(account), .text(jid.bare.description)]) { Contact($0) }
    }

    /// The subscription of the contact with the bare address of `jid`; nil if there is no such contact.
    func subscription(of jid: JID) throws -> Contact.Subscription? {
        try database.statement("SELECT subscription FROM contact WHERE account = ? AND jid = ?")
            .first([.integer(account), .text(jid.bare.description)]) {
                Contact.Subscription(rawValue: $0.text()) ?? .none
            }
    }

    func store(_ contact: Contact) throws {
        try database.run(
            """
            INSERT INTO contact(account, jid, name, groups, subscription, asked, approved) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, jid) DO UPDATE SET name = excluded.name, groups = excluded.groups,
                subscription = excluded.subscription, asked = excluded.asked, approved = excluded.approved
            """,
            [
                .integer(account), .text(contact.jid.description), .optional(contact.name),
                .text(contact.groups.joined(separator: String(Self.separator))), .state(contact.subscription),
                .integer(contact.isAsked ? 1 : 0), .integer(contact.isApproved ? 1 : 0),
            ])
    }

    func remove(_ jid: JID) throws {
        try database.run(
            "DELETE FROM contact WHERE account = ? AND jid = ?", [.integer(account), .text(jid.description)])
    }

    /// The server's version of the rows (RFC 6121 section 2.6); empty if there is none.
    func version() throws -> String {
        try database.statement("SELECT version FROM roster WHERE account = ?")
            .first([.integer(account)]) { $0.text() } ?? ""
    }

    func set(version: String) throws {
        try database.run(
            "INSERT OR REPLACE INTO roster(account, version) VALUES (?, ?)", [.integer(account), .text(version)])
    }

    fileprivate static func groups(_ text: String) -> [String] {
        text.words(at: separator)
    }
}

extension Contact {
    /// Reads a row with all columns of a contact.
    fileprivate init(_ row: Row) {
        self.init(
            .received(row.text("jid")), name: row.optionalText("name"), groups: RosterRows.groups(row.text("groups")),
            subscription: Subscription(rawValue: row.text("subscription")) ?? .none, isAsked: row.bool("asked"),
            isApproved: row.bool("approved"))
    }
}
