/// Blocked tokens, or blocked domains, each until a time. Times are those of the wall clock.
///
/// Each change is a ``BlockChange``, applied unchanged by the keeper of the table (a database) and by other nodes; changes from
/// elsewhere are applied by ``merge(_:held:now:)``. Hits are no change: they stay on one node.
///
/// The greater (version, name of the origin, rest of the record) wins as a whole: the order of merging does not matter.
public struct TokenBlocklist: Sendable {
    struct Entry: Sendable {
        var expires: Milliseconds
        var version: UInt64
        /// How long the block lasts because of hits.
        var held: Milliseconds = 0
        var reason: BlockReason
        var origin = NodeRegistry.here
        /// Whether this node's provider has confirmed the block, possibly before another node claimed it.
        var isProven = true
        /// Which servers have the record in this node's stream, a bit for each; and ``admittedBit``.
        var shared: UInt8 = 0

        var end: Milliseconds { max(expires, held) }
        var time: Milliseconds { BlockChange.time(of: version) }
    }

    /// The record may be shared: the budget has been paid.
    static let admittedBit: UInt8 = 0x80
    /// Nobody's clock is believed to be farther ahead.
    static let ahead: Milliseconds = 60_000

    var limit: Int
    /// No block lasts longer than this from its version.
    var maxBlock: Milliseconds
    /// Whether records are kept until no block below them can last any longer: needed when other nodes' blocks may arrive at any time.
    var isShared = false
    var origins = NodeRegistry("")
    private(set) var shares = RecordCounts()
    private var entries = HashedTable<Entry>()

    /// - Parameters:
    ///   - limit: the largest number of entries. When there are more, blocks that end soon make room.
    ///   - longest: no block lasts longer.
    public init(limit: Int, longest: Milliseconds = 5 * 86_400_000) {
        self.limit = limit
        self.maxBlock = longest
    }

    public var count: Int { entries.count }

    // MARK: Queries

    /// The reason of a key's block, whatever its origin; nil if not blocked.
    public func reason(_ key: HashedKey, now: Milliseconds) -> BlockReason? { live(key, now)?.reason }

    /// The end of a key's block; nil if not blocked.
    public func expiry(_ key: HashedKey, now: Milliseconds) -> Milliseconds? { live(key, now)?.end }

    func standing(_ key: HashedKey, now: Milliseconds) -> Standing {
        guard let entry = live(key, now) else { return .free }
        if entry.isProven { return .proven(entry.reason) }
        return .hearsay(
            PeerClaim(key: key, origin: entry.origin, version: entry.version, reason: entry.reason))
    }

    private func live(_ key: HashedKey, _ now: Milliseconds) -> Entry? {
        guard let entry = entries[key], entry.end > now, entry.reason != .none else { return nil }
        // A block made while the clock was far ahead would last for years.
        guard entry.end <= now + maxBlock + Self.ahead else { return nil }
        if entry.origin == NodeRegistry.here { return entry }
        return origins.isAdmitted(entry.origin) && entry.time <= now + Self.ahead ? entry : nil
    }

    // MARK: Changing

    /// Blocks a key for a time, or for `again` if already blocked. Never shortens a block.
    /// - Returns: the change; nil if the table is full of blocks that last longer.
    public mutating func block(
        _ key: HashedKey, reason: BlockReason, for time: Milliseconds, again: Milliseconds, now: Milliseconds
    ) -> BlockChange? {
        let expiry = expiry(key, now: now)
        return set(key, reason, until: max(expiry ?? 0, now + (expiry == nil ? time : again)), now)
    }

    /// A blocked key was used again: its block lasts at least this time from now, and at most `longest` from the last proof. So a
    /// token that is used again and again is also tried again at the provider.
    /// - Returns: the new end; nil if the block lasts as long anyway, or if the key is not blocked.
    public mutating func hit(
        _ key: HashedKey, extension time: Milliseconds, longest: Milliseconds, now: Milliseconds
    ) -> Milliseconds? {
        guard case .proven = standing(key, now: now), var entry = entries[key] else { return nil }
        let end = min(now + time, min(entry.time, now) + longest)
        guard end > entry.end else { return nil }
        entry.held = end
        put(key, entry)
        return end
    }

    /// Ends a block. The end is a change, newer than the block, and outlives every block below it.
    /// - Parameter always: even if the key is not blocked: a block that the end supersedes may be in transit.
    /// - Returns: the change; nil if the key is not blocked.
    public mutating func unblock(_ key: HashedKey, always: Bool = false, now: Milliseconds) -> BlockChange? {
        guard always || live(key, now) != nil else { return nil }
        return set(key, .none, until: now + maxBlock, now)
    }

    /// Takes a change from elsewhere, if newer than the present entry.
    /// - Parameter held: how long the block lasts because of hits, if recorded.
    /// - Returns: whether the change was taken.
    @discardableResult
    public mutating func merge(_ change: BlockChange, held: Milliseconds = 0, now: Milliseconds) -> Bool {
        guard let origin = origins.number(of: change.origin), origins.isAdmitted(origin) else { return false }
        var entry = Entry(expires: change.expires, version: change.version, held: held, reason: change.reason)
        entry.expires = min(change.expires, change.time + maxBlock)
        entry.origin = origin
        entry.isProven = origin == NodeRegistry.here
        if let old = entries[change.key] {
            guard isNewer(entry, old) else { return false }
            // What this node has proven stays proven, for as long as the block lasts.
            if old.isProven, old.reason == entry.reason, old.end > now { entry.isProven = true }
        } else {
            guard isKept(entry, now), makeRoom(for: change.key, until: entry.end) else { return false }
        }
        put(change.key, entry)
        return true
    }

    private func isNewer(_ one: Entry, _ other: Entry) -> Bool {
        guard one.version == other.version else { return one.version > other.version }
        let names = (origins.name(one.origin), origins.name(other.origin))
        guard names.0 == names.1 else { return names.0 > names.1 }
        return (one.expires, one.reason.rawValue) > (other.expires, other.reason.rawValue)
    }

    /// Removes entries that are no longer needed, and nothing else, from one of 256 parts of the table.
    /// - Returns: whether a round through all parts is complete.
    @discardableResult
    public mutating func cleanUp(_ now: Milliseconds) -> Bool {
        let (isShared, longest, origins) = (isShared, maxBlock, origins)
        var gone: [(HashedKey, Entry)] = []
        let isOver = entries.removePart { key, entry in
            guard !Self.isKept(entry, now, isShared ? longest : nil, origins) else { return false }
            gone.append((key, entry))
            return true
        }
        for (key, entry) in gone { shares.remove(key, entry) }
        return isOver
    }

    private func isKept(_ entry: Entry, _ now: Milliseconds) -> Bool {
        Self.isKept(entry, now, isShared ? maxBlock : nil, origins)
    }

    /// - Parameter longest: nil if ended records need not be kept.
    private static func isKept(
        _ entry: Entry, _ now: Milliseconds, _ longest: Milliseconds?, _ origins: NodeRegistry
    ) -> Bool {
        guard origins.isAdmitted(entry.origin) else { return false }
        return entry.end > now || longest.map { entry.time + $0 > now } ?? false
    }

    private mutating func set(
        _ key: HashedKey, _ reason: BlockReason, until: Milliseconds, _ now: Milliseconds
    ) -> BlockChange? {
        let old = entries[key]
        guard old != nil || makeRoom(for: key, until: until) else { return nil }
        // A damaged database may hold the largest number.
        let next = (old?.version ?? 0).addingReportingOverflow(1)
        let version = max(BlockChange.version(at: now), next.overflow ? .max : next.partialValue)
        let expires = min(until, BlockChange.time(of: version) + maxBlock)
        put(key, Entry(expires: expires, version: version, reason: reason))
        return BlockChange(key: key, version: version, expires: expires, reason: reason)
    }

    /// If the table is full, removes the block that ends soonest in the key's part.
    private mutating func makeRoom(for key: HashedKey, until: Milliseconds) -> Bool {
        guard entries.count >= limit else { return true }
        guard let (soonest, end) = entries.minimum(near: key, by: \.end), end < until else { return false }
        put(soonest, nil)
        return true
    }

    private mutating func put(_ key: HashedKey, _ entry: Entry?) {
        if let old = entries[key] { shares.remove(key, old) }
        if let entry { shares.add(key, entry) }
        entries[key] = entry
    }
}

// MARK: Sharing

extension TokenBlocklist {
    /// The present record of a key.
    func record(_ key: HashedKey) -> (change: BlockChange, shared: UInt8)? {
        entries[key].map { (BlockChange(key, $0, origins.origin($0.origin)), $0.shared) }
    }

    /// Whether a record from elsewhere is newer than the present record.
    func isNews(_ change: BlockChange) -> Bool {
        guard let old = entries[change.key] else { return true }
        guard let origin = origins.number(of: change.origin) else { return false }
        var entry = Entry(expires: change.expires, version: change.version, reason: change.reason)
        entry.origin = origin
        return isNewer(entry, old)
    }

    /// A record of this node is in its stream at a server, or is to be.
    /// - Parameter version: a newer record is not meant.
    mutating func mark(_ key: HashedKey, version: UInt64, _ bits: UInt8) {
        guard var entry = entries[key], entry.origin == NodeRegistry.here, entry.version == version else { return }
        entry.shared |= bits
        put(key, entry)
    }

    /// The keys of this node's records in one of the table's parts.
    /// - Parameter missing: a server's bit, for the records that the server does not have; 0 for all.
    func ownKeys(part: Int, missing: UInt8 = 0) -> [HashedKey] {
        entries.part(part).compactMap { key, entry in
            entry.origin == NodeRegistry.here && (missing == 0 || entry.shared & missing == 0) ? key : nil
        }
    }

    /// All records that are kept at a time, for comparing nodes.
    func records(now: Milliseconds) -> [BlockChange] {
        (0..<HashedTable<Entry>.partCount).flatMap { part in
            entries.part(part).compactMap { key, entry in
                isKept(entry, now) ? BlockChange(key, entry, origins.name(entry.origin)) : nil
            }
        }
    }
}

extension BlockChange {
    fileprivate init(_ key: HashedKey, _ entry: TokenBlocklist.Entry, _ origin: String) {
        self.init(
            key: key, version: entry.version, expires: entry.expires, reason: entry.reason, origin: origin)
    }
}
