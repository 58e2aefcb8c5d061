/// Tokens and domains that nothing is sent for, until a time.
///
/// The table of one node is the authority for that node. Each change of it is a ``BlockChange``, which whoever keeps the
/// table (a database) or shares it (other nodes) takes as it is; changes from elsewhere come in by ``merge(_:now:)``.
public struct Blocklist: Sendable {
    private struct Entry: Sendable {
        var expires: Milliseconds
        var version: UInt32
        var reason: BlockReason
    }

    var limit: Int
    private var entries = HashedTable<Entry>()

    /// - Parameter limit: how many entries at most; what would be more is not blocked.
    public init(limit: Int) { self.limit = limit }

    public var count: Int { entries.count }

    /// Why a key is blocked; nil if it is not.
    public func reason(_ key: HashedKey, now: Milliseconds) -> BlockReason? {
        guard let entry = entries[key], entry.expires > now, entry.reason != .none else { return nil }
        return entry.reason
    }

    /// Until when a key is blocked; nil if it is not.
    public func expiry(_ key: HashedKey, now: Milliseconds) -> Milliseconds? {
        reason(key, now: now) == nil ? nil : entries[key]?.expires
    }

    /// Blocks a key for a time, or for `again` if it is blocked already. Never shortens a block.
    /// - Returns: the change; nil if nothing has changed, or if the table is full.
    public mutating func block(
        _ key: HashedKey, reason: BlockReason, for time: Milliseconds, again: Milliseconds, now: Milliseconds
    ) -> BlockChange? {
        let expiry = expiry(key, now: now)
        return set(key, reason, until: max(expiry ?? 0, now + (expiry == nil ? time : again)))
    }

    /// A blocked key was asked for: its block lasts at least so long from now.
    /// - Returns: the change; nil if it would have lasted as long anyway, or if the key is not blocked.
    public mutating func hit(_ key: HashedKey, extension time: Milliseconds, now: Milliseconds) -> BlockChange? {
        guard let reason = reason(key, now: now), let expiry = entries[key]?.expires, now + time > expiry else {
            return nil
        }
        return set(key, reason, until: now + time)
    }

    /// Ends a block. What is left of it is a change that is newer than the block.
    /// - Returns: the change; nil if the key is not blocked.
    public mutating func unblock(_ key: HashedKey, now: Milliseconds) -> BlockChange? {
        expiry(key, now: now).flatMap { set(key, .none, until: $0) }
    }

    /// Takes a change from elsewhere, if it is newer than what is here.
    /// - Returns: whether it was taken.
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

    /// Removes what has expired, and nothing else, from one of 256 parts of the table.
    /// - Returns: whether that was the last part of a round through all.
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
    /// It no longer is.
    case none = 0
    /// The provider says that the device is gone.
    case dead = 1
    /// The provider does not accept the token.
    case bad = 2
    /// A domain with too many dead tokens or malformed publishes.
    case mistakes = 3
}

/// One change of a ``Blocklist``.
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
