/// Blocked tokens, or blocked domains, each until a time.
///
/// The table of a node is the authority for that node. Each change is a ``BlockChange``, taken unchanged by the keeper
/// of the table (a database) or by other nodes; changes from elsewhere come in by ``merge(_:now:)``. Hits are no
/// change: a node alone knows of them.
public struct Blocklist: Sendable {
    private struct Entry: Sendable {
        var expires: Milliseconds
        var version: UInt64
        var reason: BlockReason
        /// How long the block lasts because of hits.
        var held: Milliseconds = 0

        var end: Milliseconds { max(expires, held) }
    }

    var limit: Int
    private var entries = HashedTable<Entry>()

    /// - Parameter limit: the largest number of entries. When there are more, blocks that end soon make room.
    public init(limit: Int) { self.limit = limit }

    public var count: Int { entries.count }

    /// The reason of a key's block; nil if not blocked.
    public func reason(_ key: HashedKey, now: Milliseconds) -> BlockReason? {
        guard let entry = entries[key], entry.end > now, entry.reason != .none else { return nil }
        return entry.reason
    }

    /// The end of a key's block; nil if not blocked.
    public func expiry(_ key: HashedKey, now: Milliseconds) -> Milliseconds? {
        reason(key, now: now) == nil ? nil : entries[key]?.end
    }

    /// Blocks a key for a time, or for `again` if already blocked. Never shortens a block.
    /// - Parameter wall: the wall clock, for the version.
    /// - Returns: the change; nil if the table is full of blocks that last longer.
    public mutating func block(
        _ key: HashedKey, reason: BlockReason, for time: Milliseconds, again: Milliseconds, now: Milliseconds,
        wall: Milliseconds
    ) -> BlockChange? {
        let expiry = expiry(key, now: now)
        return set(key, reason, until: max(expiry ?? 0, now + (expiry == nil ? time : again)), wall)
    }

    /// A blocked key was used again: its block lasts at least this time from now, and at most `longest` from the last
    /// proof. A token that is used again and again is asked for again, too.
    /// - Returns: the new end; nil if the block lasts as long anyway, or if the key is not blocked.
    public mutating func hit(
        _ key: HashedKey, extension time: Milliseconds, longest: Milliseconds, now: Milliseconds
    ) -> Milliseconds? {
        guard reason(key, now: now) != nil else { return nil }
        return entries.update(key) { entry in
            let proven = min(BlockChange.time(of: entry.version), now)
            let end = min(now + time, proven + longest)
            guard end > entry.end else { return nil }
            entry.held = end
            return end
        } ?? nil
    }

    /// Ends a block. The end is a change, newer than the block.
    /// - Returns: the change; nil if the key is not blocked.
    public mutating func unblock(_ key: HashedKey, now: Milliseconds, wall: Milliseconds) -> BlockChange? {
        expiry(key, now: now).flatMap { set(key, .none, until: $0, wall) }
    }

    /// Takes a change from elsewhere, if newer than the present entry.
    /// - Parameter held: how long the block lasts because of hits, as far as known.
    /// - Returns: whether the change was taken.
    @discardableResult
    public mutating func merge(_ change: BlockChange, held: Milliseconds = 0, now: Milliseconds) -> Bool {
        let end = max(change.expires, held)
        if let entry = entries[change.key] {
            guard change.rank > (entry.version, entry.expires, entry.reason.rawValue) else { return false }
        } else {
            guard end > now, makeRoom(for: change.key, until: end) else { return false }
        }
        entries[change.key] = Entry(
            expires: change.expires, version: change.version, reason: change.reason, held: held)
        return true
    }

    /// Removes expired entries, and nothing else, from one of 256 parts of the table.
    /// - Returns: whether a round through all parts is complete.
    @discardableResult
    public mutating func cleanUp(_ now: Milliseconds) -> Bool { entries.removePart { $0.end <= now } }

    private mutating func set(
        _ key: HashedKey, _ reason: BlockReason, until: Milliseconds, _ wall: Milliseconds
    ) -> BlockChange? {
        let old = entries[key]
        guard old != nil || makeRoom(for: key, until: until) else { return nil }
        // A damaged database may hold the largest number.
        let next = (old?.version ?? 0).addingReportingOverflow(1)
        let version = max(BlockChange.version(at: wall), next.overflow ? .max : next.partialValue)
        entries[key] = Entry(expires: until, version: version, reason: reason)
        return BlockChange(key: key, version: version, expires: until, reason: reason)
    }

    /// The block that ends soonest among those of the key's part goes, if the table is full.
    private mutating func makeRoom(for key: HashedKey, until: Milliseconds) -> Bool {
        guard entries.count >= limit else { return true }
        guard let (soonest, end) = entries.least(near: key, by: \.end), end < until else { return false }
        entries[soonest] = nil
        return true
    }
}

/// Why something is blocked.
public enum BlockReason: UInt8, Sendable, CaseIterable {
    /// Not blocked any more.
    case none = 0
    /// The provider says that the device is gone.
    case dead = 1
    /// The provider does not accept the token.
    case bad = 2
    /// A domain with too many dead tokens or malformed publishes.
    case mistakes = 3
}

/// A change of a ``Blocklist``.
public struct BlockChange: Sendable, Equatable {
    public var key: HashedKey
    /// Grows with each change of the same key: 48 bits of milliseconds since 1970, and a count of 16 bits.
    public var version: UInt64
    public var expires: Milliseconds
    public var reason: BlockReason

    public init(key: HashedKey, version: UInt64, expires: Milliseconds, reason: BlockReason) {
        self.key = key
        self.version = version
        self.expires = expires
        self.reason = reason
    }

    /// The greater rank is the newer change.
    var rank: (UInt64, Milliseconds, UInt8) { (version, expires, reason.rawValue) }

    /// The first version of a time.
    static func version(at time: Milliseconds) -> UInt64 {
        // fits: 48 bits
        UInt64(max(0, min(time, 0xffff_ffff_ffff))) << 16
    }

    static func time(of version: UInt64) -> Milliseconds { Milliseconds(version >> 16) }
}
