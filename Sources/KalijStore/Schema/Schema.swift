/// The tables of a kind of database, as migrations.
///
/// A database from before migrations had names stays unchanged until a migration is missing: until then the older software can
/// continue to use the database.
public struct Schema: Sendable {
    /// Marks a file as a database of this kind (SQLite's `application_id`).
    public let applicationID: Int32
    /// In the order of running in a new database.
    public let migrations: [Migration]
    /// The `user_version` of databases that keep the names of their migrations.
    private let named: Int64

    /// - Parameters:
    ///   - applicationID: see ``applicationID``.
    ///   - migrations: with different names.
    public init(applicationID: Int32, migrations: [Migration]) {
        self.applicationID = applicationID
        self.migrations = migrations
        named = Int64(migrations.compactMap(\.version).max() ?? 0) + 1
    }

    /// The missing part of a database.
    public enum State: Sendable, Equatable {
        /// Everything: the file is missing or empty.
        case empty
        /// Some migrations.
        case older
        /// Nothing.
        case current
    }

    /// The state of the database at `path`; changes nothing.
    /// - Throws: `StoreError`: `.newerVersion`, `.notOurs`, `.corrupt`, or the error of reading.
    public func check(path: String) throws -> State { try open(reading: path)?.state ?? .empty }

    /// Opens the database at `path` for reading; nil if the file is missing or empty.
    /// - Throws: as ``check(path:)``.
    public func open(reading path: String) throws -> (database: Database, state: State)? {
        guard FileSize.of(path) > 0 else { return nil }
        let database = try Database(reading: path)
        return (database, try state(of: database))
    }

    /// The state of an open database.
    /// - Throws: `StoreError`: `.newerVersion`, `.notOurs`, `.corrupt`.
    public func state(of database: Database) throws -> State {
        let made = try made(in: database)
        guard let made else { return .empty }
        return migrations.allSatisfy { made.contains($0.name) } ? .current : .older
    }

    /// Whether the migration called `name` was made in an open database.
    /// - Throws: as ``state(of:)``.
    public func has(_ name: String, in database: Database) throws -> Bool {
        try made(in: database)?.contains(name) ?? false
    }

    /// Runs the missing migrations of `database`, in one transaction; `guarding` runs first in the transaction.
    /// - Throws: as ``state(of:)``; `.notAllowed` if an application's migration changes more than the application's tables; or
    ///   the error of `guarding`. Then nothing was changed.
    public func migrate(_ database: Database, guarding check: () throws -> Void = {}) throws {
        try database.transaction {
            try check()
            let made = try made(in: database) ?? []
            let missing = migrations.filter { !made.contains($0.name) }
            guard !missing.isEmpty else { return }
            try database.execute("CREATE TABLE IF NOT EXISTS migration(name TEXT PRIMARY KEY) WITHOUT ROWID")
            for migration in missing { try Self.run(migration, in: database) }
            for name in made.union(missing.map(\.name)).sorted() {
                try database.run("INSERT OR IGNORE INTO migration VALUES (?)", [.text(name)])
            }
            try database.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(named)")
        }
    }

    /// An application's migration changes the application's tables alone.
    private static func run(_ migration: Migration, in database: Database) throws {
        guard let application = Migration.application(migration.name) else {
            return try database.execute(migration.script)
        }
        try database.confined(to: .tables(of: application)) { try database.execute(migration.script) }
    }

    /// The applications that have driven a database or have tables in it, by name.
    static func applications(in database: Database) throws -> [String] {
        let names = try database.prepare("SELECT name FROM migration").all { $0.text() }
        return Set(names.compactMap(Migration.application)).sorted()
    }

    /// The applications of which there are migrations in an open database that are not among ``migrations``: because the process
    /// lacks the application, or has an older version of it.
    /// - Throws: as ``state(of:)``.
    public func unknownApplications(in database: Database) throws -> [String] {
        let unknown = (try made(in: database) ?? []).subtracting(migrations.map(\.name))
        return Set(unknown.compactMap(Migration.application)).sorted()
    }

    /// The names of the migrations in the database; nil if there is no table yet.
    private func made(in database: Database) throws -> Set<String>? {
        let application = try integer("PRAGMA application_id", in: database)
        let version = try integer("PRAGMA user_version", in: database)
        let tables = try integer("SELECT count(*) FROM sqlite_schema", in: database)
        guard application == Int64(applicationID) || (application == 0 && version == 0 && tables == 0) else {
            throw StoreError(.notOurs, "\(database.path) is a database of another program")
        }
        guard version <= named else {
            throw StoreError(
                .newerVersion,
                "\(database.path) has version \(version), this software knows versions up to \(named); nothing was changed"
            )
        }
        guard version > 0 else { return nil }
        guard version == named else { return Set(migrations.filter { $0.version ?? .max <= version }.map(\.name)) }
        let names = Set(try database.prepare("SELECT name FROM migration").all { $0.text() })
        let known = Set(migrations.map(\.name))
        if let unknown = names.subtracting(known).filter({ Migration.application($0) == nil }).min() {
            throw StoreError(
                .newerVersion,
                "\(database.path) has tables of a newer version (\(unknown)), which this software does not know; "
                    + "nothing was changed")
        }
        return names
    }

    private func integer(_ sql: String, in database: Database) throws -> Int64 {
        try database.prepare(sql).first { $0.integer() } ?? 0
    }
}
