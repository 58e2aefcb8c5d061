import KalijStore

/// The state that survives the process: blocks and successes as keyed hashes, and sealed queued pushes.
public final class PushDatabase {
    private static let schema = Schema(
        applicationID: 0x4b50_7573,
        migrations: [
            Migration(
                "push/1", version: 1,
                """
                CREATE TABLE block(
                    key BLOB PRIMARY KEY, version INTEGER NOT NULL, expires INTEGER NOT NULL, reason INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX block_expires ON block(expires);
                CREATE TABLE known(key BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
                CREATE INDEX known_at ON known(at);
                CREATE TABLE queued(
                    id INTEGER PRIMARY KEY, sealed BLOB NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL
                );
                CREATE TABLE success(name TEXT PRIMARY KEY, identity BLOB NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
                """),
            // Until when a block lasts because of hits.
            Migration("push/2", version: 2, "ALTER TABLE block ADD COLUMN hit INTEGER NOT NULL DEFAULT 0;"),
            Migration("push/3", version: 3, "CREATE TABLE secret(id INTEGER PRIMARY KEY, print BLOB NOT NULL);"),
            // Whose a block is; a block ends, at the latest, so long after its version. Versions were small numbers once.
            Migration(
                "push/4", version: 4,
                """
                ALTER TABLE block ADD COLUMN origin TEXT NOT NULL DEFAULT '';
                UPDATE block SET version =
                    min(max(0, expires - 432000000), CAST(strftime('%s', 'now') AS INTEGER) * 1000) << 16
                    WHERE version < 4294967296;
                DROP INDEX block_expires;
                CREATE INDEX block_version ON block(version);
                CREATE INDEX block_origin ON block(origin) WHERE origin != '';
                CREATE TABLE position(
                    server TEXT NOT NULL, node TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (server, node)
                ) WITHOUT ROWID;
                CREATE TABLE node(name TEXT PRIMARY KEY, forgotten INTEGER NOT NULL) WITHOUT ROWID;
                """),
            // This index took nine tenths of the time for a million records from other nodes.
            Migration("push/5", version: 5, "DROP INDEX block_version;"),
        ])

    let database: Database
    /// The last key of the part of the blocks that was cleaned up last; empty before the first.
    private var cleaned: [UInt8] = []
    private let lock: FileLock
    let seal: Seal
    let previousSeal: Seal?
    /// The highest id of a queued push when the database was opened.
    public let lastID: UInt64

    /// Opens the database; makes the file if missing.
    /// - Parameters:
    ///   - seal: for queued pushes.
    ///   - previousSeal: the seal of the former secret, while it is being replaced.
    /// - Throws: `StoreError`; `FileLock.Taken` if another process has the database; `SettingsError` if the file is damaged or no
    ///   database of this program.
    public init(path: String, seal: Seal, previousSeal: Seal? = nil) throws {
        // The only other writer is a person with a shell: the loop does not wait for a person.
        lock = try FileLock(path)
        let database = try Self.judged { try Database(path: path, durability: .process, busySeconds: 0.05) }
        self.database = database
        self.seal = seal
        self.previousSeal = previousSeal
        try Self.judged { try Self.schema.migrate(database) }
        // Half of SQLite's pages: whatever waits for a commit waits for a checkpoint, too.
        try Self.judged { try database.execute("PRAGMA wal_autocheckpoint=500") }
        let last = try database.statement("SELECT max(id) FROM queued").first { $0.integer() } ?? 0
        lastID = UInt64(bitPattern: last)
    }

    /// Checks that there is a usable database at a path, or that a database could be made there; changes nothing.
    /// - Throws: `StoreError`; `SettingsError` if the file is damaged or no database of this program.
    static func check(_ path: String) throws { _ = try judged { try schema.check(path: path) } }

    /// An error that a person has to correct is a fault of the settings: the next start would not succeed either.
    private static func judged<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as StoreError where [.notOurs, .newerVersion, .corrupt].contains(error.code) {
            throw SettingsError("state.database", error.message)
        }
    }

    /// Applies the actions for the disk, in one transaction. When this function returns, they survive the process.
    /// - Throws: `StoreError`; then no action was applied.
    public func apply(_ actions: some Sequence<CoreAction>) throws {
        try database.transaction {
            for action in actions {
                switch action {
                case .keep(let push): try keep(push)
                case .drop(let id): try drop(id)
                case .block(let change): try keep(change)
                case .hit(let hit):
                    try database.run(
                        "UPDATE block SET hit = ? WHERE key = ?", [.integer(hit.until), .blob(hit.key.bytes)])
                case .know(let key, let time):
                    try database.run(
                        "INSERT INTO known VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at",
                        [.blob(key.bytes), .integer(time)])
                case .success(let success): try keep(success)
                case .position(let position): try keep(position)
                case .exclude(let node, let isForgotten): try exclude(node, isForgotten)
                case .answer, .send, .alarm, .notice, .redis: continue
                }
            }
        }
    }

    /// Removes a part of the expired blocks, and of the successes that no longer count.
    /// - Parameters:
    ///   - longest: no block lasts longer from its version.
    ///   - known: successes before this time are removed, and successes from a clock that was far ahead.
    /// - Returns: whether no expired row is left.
    /// - Throws: `StoreError`.
    public func cleanUp(now: Milliseconds, longest: Milliseconds, known: Milliseconds) throws -> Bool {
        let isOver = try cleanUpBlocks(now: now, longest: longest)
        let blocks = try cleanUpNodes()
        try database.run(
            "DELETE FROM known WHERE key IN (SELECT key FROM known WHERE at < ? OR at > ? LIMIT 500)",
            [.integer(known), .integer(now + 86_400_000)])
        return isOver && blocks < 500 && database.changes < 500
    }

    /// Removes expired blocks from a part of the table.
    /// - Returns: whether the part was the last.
    private func cleanUpBlocks(now: Milliseconds, longest: Milliseconds) throws -> Bool {
        let last = try database.statement("SELECT key FROM block WHERE key > ? ORDER BY key LIMIT 1 OFFSET 999")
            .first([.blob(cleaned)]) { $0.blob("key") }
        try database.run(
            "DELETE FROM block WHERE key > ? AND key <= ? AND (version < ? OR version > ?)",
            [
                .blob(cleaned), .blob(last ?? [UInt8](repeating: 0xff, count: 17)),
                .integer(Int64(bitPattern: BlockChange.version(at: now - longest))),
                .integer(Int64(bitPattern: BlockChange.version(at: now + longest))),
            ])
        cleaned = last ?? []
        return last == nil
    }

    /// Notes whose secret made the stored hashes.
    /// - Returns: the secret's print at the last start; nil at the first.
    /// - Throws: `StoreError`.
    func record(print: HashedKey) throws -> HashedKey? {
        let before = try database.statement("SELECT print FROM secret WHERE id = 1").first {
            HashedKey($0.blob("print"))
        }
        guard before != print else { return before }
        try database.run(
            "INSERT INTO secret(id, print) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET print = excluded.print",
            [.blob(print.bytes)])
        return before
    }

    func drop(_ id: UInt64) throws {
        try database.run("DELETE FROM queued WHERE id = ?", [.integer(Int64(bitPattern: id))])
    }

    private func keep(_ push: QueuedPush) throws {
        let plain = [push.isImportant ? 1 : 0] + Array(push.module.utf8) + [0] + Array(push.token.utf8)
        try database.run(
            """
            INSERT INTO queued(id, sealed, due, attempts) VALUES (?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, due = excluded.due, attempts = excluded.attempts
            """,
            [
                .integer(Int64(bitPattern: push.id)), .blob(try seal.seal(plain)), .integer(push.due),
                .integer(Int64(push.attempts)),
            ])
    }

    private func keep(_ change: BlockChange) throws {
        try database.run(
            """
            INSERT INTO block(key, version, expires, reason, origin) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires = excluded.expires,
                reason = excluded.reason, origin = excluded.origin, hit = 0
            """,
            [
                .blob(change.key.bytes), .integer(Int64(bitPattern: change.version)), .integer(change.expires),
                .integer(Int64(change.reason.rawValue)), .text(change.origin),
            ])
    }

    private func keep(_ success: ModuleSuccess) throws {
        try database.run(
            """
            INSERT INTO success(name, identity, at) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET identity = excluded.identity, at = excluded.at
            """,
            [.text(success.module), .blob(success.identity.bytes), .integer(success.at)])
    }
}
