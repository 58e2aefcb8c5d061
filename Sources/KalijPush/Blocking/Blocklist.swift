/// Blocked tokens and domains, each until a time.
///
/// The table of a node is the authority for that node. Each change is a ``BlockChange``, taken unchanged by the keeper
/// of the table (a database) or by other nodes; changes from elsewhere come in by ``merge(_:now:)``.
public struct Blocklist: Sendable {
    private struct Entry: Sendable {
        var expires: Milliseconds
        var version: UInt32
        var reason: BlockReason
    }

    var limit: Int
    private var entries = HashedTable<Entry>()

    /// - Parameter limit: the largest number of entries; keys beyond are not blocked.
    public init(limit: Int) { self.limit = limit }

    public var count: Int { entries.count }

    /// The reason of a key's block; nil if not blocked.
    public func reason(_ key: HashedKey, now: Milliseconds) -> BlockReason? {
        guard let entry = entries[key], entry.expires > now, entry.reason != .none else { return nil }
        return entry.reason
    }

    /// The end of a key's block; nil if not blocked.
    public func expiry(_ key: HashedKey, now: Milliseconds) -> Milliseconds? {
        reason(key, now: now) == nil ? nil : entries[key]?.expires
    }

    /// Blocks a key for a time, or for `again` if already blocked. Never shortens a block.
    /// - Returns: the change; nil if nothing has changed, or if the table is full.
    public mutating func block(
        _ key: HashedKey, reason: BlockReason, for time: Milliseconds, again: Milliseconds, now: Milliseconds
    ) -> BlockChange? {
        let expiry = expiry(key, now: now)
        return set(key, reason, until: max(expiry ?? 0, now + (expiry == nil ? time : again)))
    }

    /// A blocked key was used again: its block lasts at least this time from now.
    /// - Returns: the change; nil if the block lasts as long anyway, or if the key is not blocked.
    public mutating func hit(_ key: HashedKey, extension time: Milliseconds, now: Milliseconds) -> BlockChange? {
        guard let reason = reason(key, now: now), let expiry = entries[key]?.expires, now + time > expiry else {
            return nil
        }
        return set(key, reason, until: now + time)
    }

    /// Ends a block. The end is a change, newer than the block.
    /// - Returns: the change; nil if the key is not blocked.
    public mutating func unblock(_ key: HashedKey, now: Milliseconds) -> BlockChange? {
        expiry(key, now: now).flatMap { set(key, .none, until: $0) }
    }

    /// Takes a change from elsewhere, if newer than the present entry.
    /// - Returns: whether the change was taken.
    @discardableResult
    public mutating func merge(_ change: BlockChange, now: Milliseconds) -> Bool {
        if let entry = entries[change.key] {
            guard (change.version, change.expires) > (entry.version, entry.expires) else { return false }
        } else {
            guard change.expires > now, entries.count < limit else { return false }
        }
        entries[change.key] = Entry(expires: change.expires, version: change.version, reason: change.reason)
        return true
    }

    /// Removes expired entries, and nothing else, from one of 256 parts of the table.
    /// - Returns: whether a round through all parts is complete.
    @discardableResult
    public mutating func cleanUp(_ now: Milliseconds) -> Bool { entries.removePart { $0.expires <= now } }

    private mutating func set(_ key: HashedKey, _ reason: BlockReason, until: Milliseconds) -> BlockChange? {
        let old = entries[key]
        guard old != nil || entries.count < limit else { return nil }
        let version = (old?.version ?? 0) &+ 1
        entries[key] = Entry(expires: until, version: version, reason: reason)
        return BlockChange(key: key, version: version, expires: until, reason: reason)
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
    /// Grows with each change of the same key.
    public var version: UInt32
    public var expires: Milliseconds
    public var reason: BlockReason

    public init(key: HashedKey, version: UInt32, expires: Milliseconds, reason: BlockReason) {
        self.key = key
        self.version = version
        self.expires = expires
        self.reason = reason
    }
}
