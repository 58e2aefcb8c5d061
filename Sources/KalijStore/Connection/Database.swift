import CLinux
import CSQLite
import Glibc

/// A connection to a SQLite database in WAL mode, used by one thread.
///
/// Several connections, of one process or many, may have the same file open: readers never wait, writers wait for one
/// another up to the busy time-out.
public final class Database {
    /// How durable the commits of a connection are.
    public enum Durability: Sendable {
        /// The death of the process, but not of the machine (`synchronous=NORMAL`): no file is synced.
        case process
        /// The death of the machine too (`synchronous=FULL`): a commit that changes a page syncs the write-ahead log,
        /// and so all earlier commits of every connection.
        case machine
    }

    /// The path of the file.
    public let path: String
    private let durability: Durability
    // Owned: closed in deinit after all statements have been finalized.
    let handle: OpaquePointer
    var statements = StatementCaches()
    package var knownTables = KnownTables()
    private lazy var confinement = Confinement(of: handle)

    /// Opens the database at `path` for reading and writing; creates a missing file (readable by its owner alone).
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - durability: what a commit survives.
    ///   - busySeconds: how long a statement waits for another writer before throwing ``StoreError/Code/busy``.
    /// - Throws: `StoreError`
    public init(path: String, durability: Durability, busySeconds: Double = 10) throws(StoreError) {
        try Self.create(path)
        self.path = path
        self.durability = durability
        handle = try Self.open(path, flags: SQLITE_OPEN_READWRITE)
        wait(atMost: busySeconds)
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=\(durability == .machine ? "FULL" : "NORMAL")")
        try execute("PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-1000")
        // An erased text leaves no bytes in the file.
        try execute("PRAGMA secure_delete=ON")
    }

    /// Opens an existing database for reading only; never waits for a writer and changes nothing. Works where nothing can be
    /// written, too.
    public init(reading path: String) throws(StoreError) {
        self.path = path
        durability = .process
        handle = try Self.openForReading(path)
        sqlite3_busy_timeout(handle, 5000)
        try execute("PRAGMA temp_store=MEMORY")
    }

    deinit {
        statements = StatementCaches()
        sqlite3_close_v2(handle)
    }

    /// Changes how long a statement waits for another writer before throwing ``StoreError/Code/busy``.
    public func wait(atMost seconds: Double) {
        sqlite3_busy_timeout(handle, Int32(seconds * 1000))  // fits: the program's own waits are seconds
    }

    /// Runs statements without parameters or results.
    public func execute(_ sql: String) throws(StoreError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw StoreError(result, on: handle, doing: "running \"\(sql)\"") }
    }

    /// The statement for `sql`, prepared at its first use and kept as long as it is used often. Not to be used again while it
    /// gives rows.
    public func statement(_ sql: StaticString) throws(StoreError) -> Statement {
        try statements.own.statement(UInt(bitPattern: sql.utf8Start)) { () throws(StoreError) -> Statement in
            try Statement(sql.description, on: handle, persistent: true)
        }
    }

    /// A statement for a text made at run time; prepared anew each time.
    public func prepare(_ sql: String) throws(StoreError) -> Statement {
        try Statement(sql, on: handle, persistent: false)
    }

    /// Returns to the system the memory of all prepared statements and cached pages that are not in use: the next use prepares
    /// and reads anew.
    package func releaseMemory() {
        statements = StatementCaches()
        sqlite3_db_release_memory(handle)
        malloc_trim(0)
    }

    /// Runs `body`; statements that it prepares may do no more than `limits` permit.
    /// - Throws: what `body` throws; `StoreError` `.notAllowed` if a statement does more.
    func confined<Result>(to limits: Confinement.Limits, _ body: () throws -> Result) throws -> Result {
        try confinement.hold(limits, body)
    }

    /// Runs `sql` once with `values`.
    public func run(_ sql: StaticString, _ values: [Value] = []) throws(StoreError) {
        try statement(sql).run(values)
    }

    /// Runs `body` in a transaction that takes the write lock at once; commits when `body` returns, rolls back when
    /// `body` throws. Transactions do not nest.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        knownTables.open()
        defer { knownTables.close() }
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // After some errors SQLite has rolled back by itself, and another rollback would fail: nothing is left to
            // undo then.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body`, which reads, on a single state of the database, whatever others commit meanwhile. Not to be held
    /// for long: the write-ahead log grows meanwhile.
    public func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN")
        defer { try? run("COMMIT") }
        return try body()
    }

    /// Runs `body` with commits that survive the death of the machine, even on a connection of less durability. Not to
    /// be called within a transaction, because SQLite cannot change the durability there.
    func durably(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard durability == .process else { return try body() }
        try execute("PRAGMA synchronous=FULL")
        // After a failure later commits sync needlessly.
        defer { try? execute("PRAGMA synchronous=NORMAL") }
        try body()
    }

    /// The rowid of the last row inserted by this connection.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
    /// How many rows the last statement changed.
    public var changes: Int { Int(sqlite3_changes(handle)) }

    /// How many rows all statements of this connection have changed.
    public var totalChanges: Int { Int(sqlite3_total_changes(handle)) }

    private static func create(_ path: String) throws(StoreError) {
        // Created before SQLite does, so that the file is private, with its -wal and -shm files, which inherit the
        // mode. An existing file is not touched: closing a descriptor of the file would take this process's POSIX locks
        // away from all of its connections, and another process would then delete the write-ahead log in use.
        let descriptor = Self.createFile(path)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            let code: StoreError.Code = errno == ENOSPC ? .full : .cannotOpen
            throw StoreError(code, "creating \(path): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }

    private static func createFile(_ path: String) -> Int32 {
        Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }

    /// A reader of a database in WAL mode makes the missing files beside the database. If that fails, as on a full disk
    /// or in a read-only directory, and there is no write-ahead log to miss, the file is read alone. Nobody changes the
    /// file meanwhile: a writer needs the same files.
    private static func openForReading(_ path: String) throws(StoreError) -> OpaquePointer {
        let handle = try open(path, flags: SQLITE_OPEN_READONLY)
        let result = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil) & 0xFF
        guard [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL, SQLITE_READONLY].contains(result),
            FileSize.of(path + "-wal") == 0
        else { return handle }
        sqlite3_close_v2(handle)
        return try open(uri(of: path) + "?immutable=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    /// A name for SQLite with optional parameters: each byte of the path is written as its number.
    private static func uri(of path: String) -> String {
        "file:" + path.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Before the first connection of the process; without effect if other code has opened one.
    private static let isConfigured = kalij_omit_memory_statistics() == SQLITE_OK

    private static func open(_ path: String, flags: Int32) throws(StoreError) -> OpaquePointer {
        _ = isConfigured
        var handle: OpaquePointer?
        let result = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard result == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            throw StoreError(result, on: handle, at: path, doing: "opening it")
        }
        return handle
    }
}
