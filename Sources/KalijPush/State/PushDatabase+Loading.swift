import KalijStore

/// Stored state, read in parts small enough not to delay other work.
///
/// Blocks are read before queued pushes, because a queued push is sent only if its token is not blocked.
public struct KeptState {
    /// A part of the state.
    public struct Part {
        public var blocks: [BlockChange] = []
        public var hits: [BlockHit] = []
        public var known: [(key: HashedKey, at: Milliseconds)] = []
        public var modules: [ModuleSuccess] = []
        public var queued: [QueuedPush] = []

        public init(
            blocks: [BlockChange] = [], hits: [BlockHit] = [], known: [(key: HashedKey, at: Milliseconds)] = [],
            modules: [ModuleSuccess] = [], queued: [QueuedPush] = []
        ) {
            self.blocks = blocks
            self.hits = hits
            self.known = known
            self.modules = modules
            self.queued = queued
        }
    }

    private enum Stage {
        case modules
        case blocks(after: [UInt8])
        case known(before: Milliseconds, key: [UInt8], room: Int)
        case queued(after: Int64)
        case over
    }

    private static let rows = 1_000

    private let database: PushDatabase
    private let limit: Int
    private var stage = Stage.modules

    /// - Parameter limit: how many successes are read, the latest first.
    public init(_ database: PushDatabase, knownLimit limit: Int) {
        self.database = database
        self.limit = limit
    }

    /// The next part; nil when everything was read. Rows that cannot be opened are forgotten: nobody can read such rows
    /// any more.
    /// - Throws: `StoreError`.
    public mutating func next() throws -> Part? {
        switch stage {
        case .modules:
            stage = .blocks(after: [])
            return Part(modules: try database.modules())
        case .blocks(let after):
            let (blocks, hits) = try database.blocks(after: after, limit: Self.rows)
            stage =
                blocks.count < Self.rows
                ? .known(before: .max, key: [], room: limit) : .blocks(after: blocks.last?.key.bytes ?? [])
            return Part(blocks: blocks, hits: hits)
        case .known(let before, let key, let room):
            let known = try database.known(before: before, key: key, limit: min(Self.rows, room))
            if known.count < Self.rows {
                stage = .queued(after: .min)
            } else {
                stage = .known(
                    before: known.last?.at ?? .min, key: known.last?.key.bytes ?? [], room: room - known.count)
            }
            return Part(known: known)
        case .queued(let after):
            let (queued, last) = try database.queued(after: after, limit: Self.rows)
            stage = last.map { .queued(after: $0) } ?? .over
            return Part(queued: queued)
        case .over: return nil
        }
    }
}

extension PushDatabase {
    fileprivate func modules() throws -> [ModuleSuccess] {
        try database.statement("SELECT name, identity, at FROM success").all { row in
            ModuleSuccess(module: row.text("name"), identity: HashedKey(row.blob("identity")), at: row.integer("at"))
        }
    }

    fileprivate func blocks(after key: [UInt8], limit: Int) throws -> (blocks: [BlockChange], hits: [BlockHit]) {
        var hits: [BlockHit] = []
        let blocks = try database.statement(
            "SELECT key, version, expires, reason, hit, origin FROM block WHERE key > ? ORDER BY key LIMIT ?"
        ).all([.blob(key), .integer(Int64(limit))]) { row in
            let reason = UInt8(exactly: row.integer("reason")).flatMap(BlockReason.init(rawValue:)) ?? .bad
            let key = HashedKey(row.blob("key"))
            let hit = row.integer("hit")
            if hit > 0 { hits.append(BlockHit(key: key, until: hit)) }
            return BlockChange(
                key: key, version: UInt64(bitPattern: row.integer("version")), expires: row.integer("expires"),
                reason: reason, origin: row.text("origin"))
        }
        return (blocks, hits)
    }

    fileprivate func known(
        before time: Milliseconds, key: [UInt8], limit: Int
    ) throws -> [(key: HashedKey, at: Milliseconds)] {
        try database.statement(
            "SELECT key, at FROM known WHERE (at, key) < (?, ?) ORDER BY at DESC, key DESC LIMIT ?"
        ).all([.integer(time), .blob(key), .integer(Int64(limit))]) {
            (key: HashedKey($0.blob("key")), at: $0.integer("at"))
        }
    }

    /// - Returns: pushes, and the last row's id; nil if there was none.
    fileprivate func queued(after id: Int64, limit: Int) throws -> (pushes: [QueuedPush], last: Int64?) {
        var pushes: [QueuedPush] = []
        var unreadable: [UInt64] = []
        var last: Int64?
        try database.statement("SELECT id, sealed, due, attempts FROM queued WHERE id > ? ORDER BY id LIMIT ?")
            .each([.integer(id), .integer(Int64(limit))]) { row in
                let id = row.integer("id")
                last = id
                let attempts = Int(clamping: row.integer("attempts"))
                if let push = open(row.blob("sealed"), id: id, due: row.integer("due"), attempts: attempts) {
                    pushes.append(push)
                } else {
                    unreadable.append(UInt64(bitPattern: id))
                }
            }
        for id in unreadable { try drop(id) }
        return (pushes, last)
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
