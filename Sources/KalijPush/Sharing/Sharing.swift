/// Shares blocks between nodes through Redis: each node appends its own records to a stream, and reads the others' streams.
/// Decides alone; sockets, clocks and disks are elsewhere.
///
/// Nothing that a push depends on waits for this: the tables of blocks are this node's own.
public struct Sharing: Sendable {
    /// Why a record was not taken.
    enum Refusal: String, Sendable, CaseIterable {
        case seal, secret, reason, ended, budget, share, ahead
    }

    /// The state of another node.
    struct Peer: Sendable {
        var budget = ReadingBudget()
        var strikes = PeerErrorRate()
        /// Records from a clock that is ahead of this node's.
        var early: [BlockChange] = []
        var accepted: UInt64 = 0
        var refused: [Refusal: UInt64] = [:]
        var struck: UInt64 = 0
        var gaps: UInt64 = 0
        /// The latest entry that was read: entries are numbered by the time of writing.
        var latest: UInt64 = 0
        /// Since when the node is listened to.
        var since: Milliseconds = 0
        var isLate = false
    }

    /// The most records from clocks ahead of this node's, for each node.
    static let maxEarly = 1_000
    /// A node whose clock differs by more from the servers' only listens.
    static let clockLimit: Milliseconds = 5_000
    static let lag: Milliseconds = 180_000

    var settings: NodesSettings
    private let secrets: [ClusterSecret]
    var keys: ClusterKeys
    var links: [RedisStreamState]
    var peers: [UInt16: Peer] = [:]
    var budget: WritingBudget
    var isClockWrong = false
    var random: SeededRandom

    /// - Parameters:
    ///   - secrets: the one that writes first.
    ///   - logins: for each server; nil without a password.
    /// - Throws: `Seal.Problem`.
    init(
        _ settings: NodesSettings, secrets: [ClusterSecret], logins: [RedisCommand?], seed: UInt64, now: Milliseconds
    ) throws(Seal.Problem) {
        self.settings = settings
        self.secrets = secrets
        keys = try Self.keys(settings, secrets)
        links = settings.redis.indices.map { RedisStreamState(number: $0) }
        budget = WritingBudget(now: now)
        random = SeededRandom(seed: seed)
        for (index, login) in logins.enumerated() where index < links.count { links[index].login = login }
    }

    /// Other nodes from now on.
    mutating func setOthers(_ others: [String]) {
        settings.others = others
        // Cannot fail: the same secrets were good before.
        if let new = try? Self.keys(settings, secrets) { keys = new }
    }

    private static func keys(
        _ settings: NodesSettings, _ secrets: [ClusterSecret]
    ) throws(Seal.Problem) -> ClusterKeys {
        let streams = ([settings.name] + settings.others).map(settings.stream)
        return try ClusterKeys(secrets, streams: streams, longest: settings.longestBlock)
    }

    /// All nodes.
    var nodes: Int { settings.others.count + 1 }

    /// A node has this part of a table at most.
    func share(of table: TokenBlocklist) -> Int { max(1, table.limit * 2 / max(2, nodes)) }

    func stream(_ origin: UInt16, _ blocks: BlockTables) -> String { settings.stream(blocks.origins.name(origin)) }

    // MARK: Time

    /// When ``tick(_:now:)`` has something to do.
    var next: Milliseconds {
        var next = Milliseconds.max
        for link in links where link.phase != .down {
            if let first = link.awaited.first { next = min(next, first.at + RedisStreamState.timeout) }
            if link.isUp { next = min(next, link.readsAt ?? .max, link.writesAt ?? .max) }
        }
        return next
    }

    /// Does the due work: reads, writes, gives up on silent servers.
    mutating func tick(_ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        var actions = ripen(&blocks, now: now) + watch(blocks, now: now)
        distribute(&blocks, now: now)
        for index in links.indices where links[index].phase != .down {
            if let first = links[index].awaited.first, now - first.at >= RedisStreamState.timeout {
                actions += lose(index, "no reply for 10 s", now: now)
                continue
            }
            guard links[index].isUp else { continue }
            actions += read(index, blocks, now: now) + write(index, &blocks, now: now)
        }
        return actions
    }

    /// Takes the records from clocks ahead of this node's that have become due.
    private mutating func ripen(_ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        var actions: [CoreAction] = []
        let latest = blocks.wall(now) + TokenBlocklist.ahead
        for (origin, peer) in peers where !peer.early.isEmpty {
            let ripe = peer.early.filter { $0.time <= latest }
            guard !ripe.isEmpty else { continue }
            peers[origin]?.early.removeAll { $0.time <= latest }
            for record in ripe { actions += apply(record, origin, &blocks, now: now) }
            for index in links.indices { actions += keepPosition(index, origin, blocks) }
        }
        return actions
    }

    /// How old the latest entry of a node is.
    func lag(of peer: Peer, _ blocks: BlockTables, now: Milliseconds) -> Milliseconds {
        max(0, blocks.wall(now) - Milliseconds(clamping: peer.latest))
    }

    private mutating func watch(_ blocks: BlockTables, now: Milliseconds) -> [CoreAction] {
        var actions: [CoreAction] = []
        guard let up = links.filter(\.isUp).map(\.upSince).min() else { return [] }
        for origin in blocks.origins.admitted {
            guard let peer = peers[origin] else { continue }
            let isLate = min(now - max(up, peer.since), lag(of: peer, blocks, now: now)) > Self.lag
            guard isLate != peer.isLate else { continue }
            peers[origin]?.isLate = isLate
            let name = blocks.origins.name(origin)
            actions.append(
                .alarm(
                    module: "nodes.\(name)", isLate ? "nothing read for three minutes" : "read again", isOver: !isLate))
        }
        let offsets = links.filter(\.isUp).compactMap(\.clockOffset).sorted()
        guard !offsets.isEmpty else { return actions }
        let offset = offsets[offsets.count / 2]
        let isWrong = abs(offset) > Self.clockLimit
        if isWrong != isClockWrong {
            isClockWrong = isWrong
            let text = isWrong ? "the clock is \(offset) ms ahead of Redis's: nothing is shared" : "the clock is right"
            actions.append(.alarm(module: "nodes", text, isOver: !isWrong))
        }
        return actions
    }

    // MARK: The budget

    /// Offers new records that the budget allows to all servers.
    private mutating func distribute(_ blocks: inout BlockTables, now: Milliseconds) {
        while let key = blocks.fresh.keys.first {
            guard let record = blocks.own(key) else {
                blocks.fresh.removeFirst()
                continue
            }
            guard admit(key, record, &blocks, now: now) else { return }
            blocks.fresh.removeFirst()
            for index in links.indices { links[index].offer(key) }
        }
        if blocks.fresh.hasMore {
            blocks.fresh.hasMore = false
            for index in links.indices { links[index].own.search = 0 }
        }
    }

    /// Whether a record of this node may be shared now.
    mutating func admit(
        _ key: SharedKey, _ record: (change: BlockChange, shared: UInt8), _ blocks: inout BlockTables,
        now: Milliseconds
    ) -> Bool {
        if record.shared & TokenBlocklist.admittedBit != 0 { return true }
        let wall = blocks.wall(now)
        let table = key.isDomain ? blocks.domains : blocks.tokens
        // The other nodes count ended records a little longer than this node.
        guard record.change.time <= wall + Self.clockLimit, table.shares.admitted < share(of: table) * 9 / 10 else {
            return false
        }
        let isOld = wall - record.change.time >= ReplicationRate.young + ReplicationRate.margin
        guard isOld || budget.acquire(now) else { return false }
        blocks.mark(key, version: record.change.version, TokenBlocklist.admittedBit)
        return true
    }
}

extension RedisStreamState {
    /// A server that does not answer for so long is given up.
    static let timeout: Milliseconds = 10_000
    private static let outboxLimit = 10_000

    mutating func offer(_ key: SharedKey) {
        if own.outbox.count < Self.outboxLimit { own.outbox.append(key) } else { own.search = 0 }
    }
}

extension BlockTables {
    var origins: NodeRegistry {
        get { tokens.origins }
        set {
            tokens.origins = newValue
            domains.origins = newValue
        }
    }

    /// The present record of a key, if this node vouches for it.
    func own(_ key: SharedKey) -> (change: BlockChange, shared: UInt8)? {
        guard let record = key.isDomain ? domains.record(key.key) : tokens.record(key.key),
            record.change.origin.isEmpty
        else { return nil }
        return record
    }

    mutating func mark(_ key: SharedKey, version: UInt64, _ bits: UInt8) {
        if key.isDomain {
            domains.mark(key.key, version: version, bits)
        } else {
            tokens.mark(key.key, version: version, bits)
        }
    }

    /// Parts of both tables.
    static let parts = 512

    /// This node's records in a part of the tables.
    func ownRecords(part: Int, missing: UInt8 = 0) -> [SharedKey] {
        let isDomain = part >= 256
        let table = isDomain ? domains : tokens
        return table.ownKeys(part: part % 256, missing: missing).map { SharedKey(key: $0, isDomain: isDomain) }
    }
}
