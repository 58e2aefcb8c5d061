/// The versions of a database's tables, as migrations from each to the next.
public struct Schema: Sendable {
    /// Marks a file as a database of this kind (SQLite's `application_id`).
    public let applicationID: Int32
    /// The SQL that leads from version `n` to `n + 1`, by `n`. Released ones are never changed, only added to.
    public let migrations: [String]

    public init(applicationID: Int32, migrations: [String]) {
        self.applicationID = applicationID
        self.migrations = migrations
    }

    /// The version that this software writes.
    public var version: Int { migrations.count }

    /// The version of the database at `path`, 0 for a file that is missing or empty; changes nothing.
    /// - Throws: `StoreError`: `.newerVersion`, `.notOurs`, `.corrupt`, or what reading it gives.
    public func check(path: String) throws -> Int {
        guard FileSize.of(path) > 0 else { return 0 }
        return try version(of: Database(reading: path))
    }

    /// Brings `database` to this schema's version, in one transaction; `guarding` runs first in it.
    public func migrate(_ database: Database, guarding check: () throws -> Void = {}) throws {
        try database.transaction {
            try check()
            let current = try version(of: database)
            guard current < version else { return }
            for migration in migrations[current...] { try database.execute(migration) }
            try database.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
        }
    }

    /// The version of an open database.
    public func version(of database: Database) throws -> Int {
        let application = try integer("PRAGMA application_id", in: database)
        let version = try integer("PRAGMA user_version", in: database)
        let tables = try integer("SELECT count(*) FROM sqlite_schema", in: database)
        guard application == Int64(applicationID) || (application == 0 && version == 0 && tables == 0) else {
            throw StoreError(.notOurs, "\(database.path) is a database of another program")
        }
        guard version <= Int64(self.version) else {
            throw StoreError(
                .newerVersion,
                "\(database.path) has version \(version), this software knows versions up to \(self.version); "
                    + "nothing was changed")
        }
        return Int(version)
    }

    private func integer(_ sql: String, in database: Database) throws -> Int64 {
        try database.prepare(sql).first { $0.integer(0) } ?? 0
    }
}
