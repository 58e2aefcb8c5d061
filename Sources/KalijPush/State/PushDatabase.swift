import KalijStore

/// What survives the process: blocks as keyed hashes, and sealed queued pushes.
public final class PushDatabase {
    private static let schema = Schema(
        applicationID: 0x4b50_7573,
        migrations: [
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
            """
        ])

    private let database: Database
    private let seal: Seal
    private let previousSeal: Seal?

    /// Opens the database, making it if need be.
    /// - Parameters:
    ///   - seal: for queued pushes.
    ///   - previousSeal: of the secret before, while it is being replaced.
    /// - Throws: `StoreError`.
    public init(path: String, seal: Seal, previousSeal: Seal? = nil) throws {
        database = try Database(path: path, durability: .process)
        self.seal = seal
        self.previousSeal = previousSeal
        try Self.schema.migrate(database)
    }

    /// What is kept.
    public struct Kept {
        public var queued: [QueuedPush] = []
        public var blocks: [BlockChange] = []
        public var known: [(key: HashedKey, at: Milliseconds)] = []
    }

    /// Everything that is kept. Rows that cannot be opened are forgotten: nobody can read them any more.
    /// - Parameters:
    ///   - lifetime: how long a success counts.
    ///   - limit: how many successes are read, the latest first.
    public func load(now: Milliseconds, lifetime: Milliseconds = 0, limit: Int = 0) throws -> Kept {
        var known: [(key: HashedKey, at: Milliseconds)] = []
        try database.run("DELETE FROM known WHERE at <= ?", [.integer(now - lifetime)])
        try database.statement("SELECT key, at FROM known ORDER BY at DESC LIMIT ?").each([.integer(Int64(limit))]) {
            known.append((HashedKey($0.blob(0)), $0.integer(1)))
        }
        try database.run("DELETE FROM block WHERE expires <= ?", [.integer(now)])
        var blocks: [BlockChange] = []
        try database.statement("SELECT key, version, expires, reason FROM block").each { row in
            let reason = UInt8(exactly: row.integer(3)).flatMap(BlockReason.init(rawValue:)) ?? .bad
            blocks.append(
                BlockChange(
                    key: HashedKey(row.blob(0)), version: UInt32(truncatingIfNeeded: row.integer(1)),
                    expires: row.integer(2), reason: reason))
        }
        var queued: [QueuedPush] = []
        var unreadable: [Int64] = []
        try database.statement("SELECT id, sealed, due, attempts FROM queued ORDER BY id").each { row in
            let id = row.integer(0)
            if let push = open(row.blob(1), id: id, due: row.integer(2), attempts: Int(row.integer(3))) {
                queued.append(push)
            } else {
                unreadable.append(id)
            }
        }
        for id in unreadable { try database.run("DELETE FROM queued WHERE id = ?", [.integer(id)]) }
        return Kept(queued: queued, blocks: blocks, known: known)
    }

    /// Applies what of some actions is to be kept, in one transaction. When it returns, it survives the process.
    /// - Throws: `StoreError`; then nothing of it is kept.
    public func apply(_ actions: some Sequence<CoreAction>) throws {
        try database.transaction {
            for action in actions {
                switch action {
                case .keep(let push): try keep(push)
                case .drop(let id):
                    try database.run("DELETE FROM queued WHERE id = ?", [.integer(Int64(bitPattern: id))])
                case .block(let change): try keep(change)
                case .know(let key, let time):
                    try database.run(
                        "INSERT INTO known VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at",
                        [.blob(key.bytes), .integer(time)])
                case .answer, .send, .alarm: continue
                }
            }
        }
    }

    /// Removes blocks that are over, and successes that no longer count.
    public func cleanUp(now: Milliseconds, lifetime: Milliseconds) throws {
        try database.run("DELETE FROM block WHERE expires <= ?", [.integer(now)])
        try database.run("DELETE FROM known WHERE at <= ?", [.integer(now - lifetime)])
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
            INSERT INTO block(key, version, expires, reason) VALUES (?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires = excluded.expires,
                reason = excluded.reason
            """,
            [
                .blob(change.key.bytes), .integer(Int64(change.version)), .integer(change.expires),
                .integer(Int64(change.reason.rawValue)),
            ])
    }

    private func open(_ sealed: [UInt8], id: Int64, due: Milliseconds, attempts: Int) -> QueuedPush? {
        guard let plain = seal.open(sealed) ?? previousSeal?.open(sealed), let first = plain.first,
            let zero = plain.dropFirst().firstIndex(of: 0)
        else { return nil }
        return QueuedPush(
            id: UInt64(bitPattern: id), module: String(decoding: plain[1..<zero], as: UTF8.self),
            token: String(decoding: plain[(zero + 1)...], as: UTF8.self), isImportant: first == 1, due: due,
            attempts: attempts)
    }
}
