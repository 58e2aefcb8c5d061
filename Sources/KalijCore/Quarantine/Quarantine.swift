import KalijStore

/// The stanzas that were quarantined unprocessed: to be inspected, retried after an update, or dropped. Reads and writes only the
/// database; the driver retries the stanzas.
public struct Quarantine {
    private let database: Database

    /// Uses the stanzas in `database`.
    public init(_ database: Database) { self.database = database }

    /// A quarantined stanza.
    public struct Stanza: Sendable, Equatable {
        /// The row.
        public let id: Int64
        /// The account's bare address.
        public let account: String
        /// Milliseconds since 1970.
        public let at: Int64
        /// The reason why the stanza was quarantined.
        public let reason: String
        /// The name of the stanza: `message`, `presence`, `iq`.
        public let name: String
        /// The sender, if readable.
        public let sender: String?
        /// Bytes on the wire.
        public let size: Int
        /// Whether the stanza can be retried.
        public let retrying: Retrying
    }

    /// Whether a stanza can be retried.
    public enum Retrying: Sendable, Equatable {
        /// The stanza may be retried.
        case possible
        /// The driver will retry the stanza.
        case wanted
        /// The stanza was retried, and the process ended meanwhile.
        case interrupted
        /// Only the first 64 KiB were stored.
        case truncated
        /// The stanza is a request that is no longer pending at its sender.
        case outdated
    }

    /// The newest `limit`, newest first.
    public func stanzas(limit: Int = 100) throws -> [Stanza] {
        let addresses = try AccountTable(database).addresses()
        return try database.prepare("SELECT \(Self.columns) ORDER BY id DESC LIMIT ?")
            .all([.integer(Int64(limit))]) { Stanza($0, addresses) }
    }

    /// The stanza `id`; nil if there is none.
    public func stanza(_ id: Int64) throws -> Stanza? {
        let addresses = try AccountTable(database).addresses()
        return try database.prepare("SELECT \(Self.columns) WHERE id = ?")
            .first([.integer(id)]) { Stanza($0, addresses) }
    }

    /// The stored bytes of the stanza `id`: the first 64 KiB on the wire.
    public func bytes(of id: Int64) throws -> [UInt8]? {
        try database.prepare("SELECT stanza FROM quarantine WHERE id = ?").first([.integer(id)]) { $0.blob() }
    }

    /// Commits that the stanza `id`, or all if nil, is to be retried: each stanza in a step of its own, exactly once. A processed
    /// stanza is removed from the quarantine. Call this within `AccountDirectory.ringing(_:)`, which wakes the driver.
    /// - Returns: the number of stanzas to be retried.
    @discardableResult
    public func retry(_ id: Int64? = nil) throws -> Int {
        try database.run(
            """
            UPDATE quarantine SET retry = 'wanted'
            WHERE (?1 IS NULL OR id = ?1) AND size = length(stanza) AND name <> 'iq'
            """, [.optional(id)])
        return database.changes
    }

    /// Deletes the stanza `id`, or all if nil.
    /// - Returns: the number of deleted stanzas.
    @discardableResult
    public func drop(_ id: Int64? = nil) throws -> Int {
        try database.run("DELETE FROM quarantine WHERE ?1 IS NULL OR id = ?1", [.optional(id)])
        return database.changes
    }

    /// The number of stanzas whose retry is pending.
    public func wanted() throws -> Int {
        Int(try database.prepare("SELECT count(*) FROM quarantine WHERE retry = 'wanted'").first { $0.integer() } ?? 0)
    }

    private static let columns = """
        id, account, at, reason, name, sender, size, size = length(stanza) AS whole, retry FROM quarantine
        """
}

extension Quarantine.Stanza {
    fileprivate init(_ row: Row, _ addresses: [Int64: String]) {
        id = row.integer("id")
        account = addresses[row.integer("account")] ?? ""
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
