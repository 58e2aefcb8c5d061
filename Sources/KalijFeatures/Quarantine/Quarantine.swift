import KalijSteps
import KalijStore

/// The stanzas that were set aside unprocessed: to be looked at, tried again after an update, or dropped. Reads and writes
/// the database only; whoever drives tries them.
public struct Quarantine {
    private let database: Database

    /// Uses the stanzas in `database`.
    public init(_ database: Database) { self.database = database }

    /// A stanza that was set aside.
    public struct Stanza: Sendable, Equatable {
        /// The row.
        public let id: Int64
        /// The account's bare address.
        public let account: String
        /// Milliseconds since 1970.
        public let at: Int64
        /// Why it was set aside.
        public let reason: String
        /// What it is: `message`, `presence`, `iq`.
        public let name: String
        /// Who sent it, if that can be read.
        public let sender: String?
        /// Its bytes on the wire.
        public let size: Int
        /// Whether it can be tried again.
        public let retrying: Retrying
    }

    /// Whether a stanza can be tried again.
    public enum Retrying: Sendable, Equatable {
        /// It may be tried again.
        case possible
        /// It will be, by whoever drives.
        case wanted
        /// It was, and the process ended meanwhile.
        case interrupted
        /// Only its first 64 KiB were kept.
        case truncated
        /// It asks something, and whoever asked waits no longer.
        case outdated
    }

    /// The newest `limit`, newest first.
    public func stanzas(limit: Int = 100) throws -> [Stanza] {
        try database.prepare("SELECT \(Self.columns) ORDER BY q.id DESC LIMIT ?")
            .all([.integer(Int64(limit))], Stanza.init)
    }

    /// The stanza `id`; nil if there is none.
    public func stanza(_ id: Int64) throws -> Stanza? {
        try database.prepare("SELECT \(Self.columns) WHERE q.id = ?").first([.integer(id)], Stanza.init)
    }

    /// What was kept of the stanza `id`: its first 64 KiB, as they were on the wire.
    public func bytes(of id: Int64) throws -> [UInt8]? {
        try database.prepare("SELECT stanza FROM quarantine WHERE id = ?").first([.integer(id)]) { $0.blob() }
    }

    /// Commits that the stanza `id`, or all if it is nil, is to be tried again: each in a step of its own, exactly once. One
    /// that is processed is gone from here. Ring the driver's `Doorbell` around it.
    /// - Returns: how many that can be tried are.
    @discardableResult
    public func retry(_ id: Int64? = nil) throws -> Int {
        try database.run(
            """
            UPDATE quarantine SET retry = 'wanted'
            WHERE (?1 IS NULL OR id = ?1) AND size = length(stanza) AND name <> 'iq'
            """, [.optional(id)])
        return database.changes
    }

    /// Forgets the stanza `id`, or all if it is nil.
    /// - Returns: how many there were.
    @discardableResult
    public func drop(_ id: Int64? = nil) throws -> Int {
        try database.run("DELETE FROM quarantine WHERE ?1 IS NULL OR id = ?1", [.optional(id)])
        return database.changes
    }

    /// How many are to be tried and were not yet.
    public func wanted() throws -> Int {
        Int(try database.prepare("SELECT count(*) FROM quarantine WHERE retry = 'wanted'").first { $0.integer() } ?? 0)
    }

    private static let columns = """
        q.id, a.jid, q.at, q.reason, q.name, q.sender, q.size, q.size = length(q.stanza) AS whole, q.retry
        FROM quarantine q JOIN account a ON a.id = q.account
        """
}

extension Quarantine.Stanza {
    fileprivate init(_ row: Row) {
        id = row.integer("id")
        account = row.text("jid")
        at = row.integer("at")
        reason = row.text("reason")
        name = row.text("name")
        sender = row.optionalText("sender")
        size = Int(row.integer("size"))
        retrying =
            switch (row.bool("whole"), name, row.optionalText("retry")) {
            case (false, _, _): .truncated
            case (_, "iq", _): .outdated
            case (_, _, "wanted"): .wanted
            case (_, _, "begun"): .interrupted
            default: .possible
            }
    }
}
