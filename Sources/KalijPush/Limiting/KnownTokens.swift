/// Tokens with a recent successful push, as hashes: 20 bytes each, up to a limit.
public struct KnownTokens: Sendable {
    var limit: Int
    var lifetime: Milliseconds
    // Two generations: after a lifetime or at half the limit, the younger becomes the older, and the older is forgotten
    // as a whole. So nothing has to be searched for old entries.
    private var young = HashedTable<UInt32>()
    private var old = HashedTable<UInt32>()
    private var turned: Milliseconds = 0
    /// Successes before this time are forgotten, so nobody has to keep such successes.
    public private(set) var oldest: Milliseconds = 0

    public init(limit: Int, lifetime: Milliseconds) {
        self.limit = limit
        self.lifetime = lifetime
    }

    public var count: Int { young.count + old.count }

    /// A push to the token has succeeded.
    /// - Returns: whether the success is to be kept: a few times in a token's lifetime, not each time.
    @discardableResult
    public mutating func succeeded(_ key: HashedKey, now: Milliseconds) -> Bool {
        turn(now)
        let before = young[key] ?? old[key]
        if old[key] != nil { old[key] = nil }
        young[key] = UInt32(clamping: now / 1000)
        let step = max(1_000, lifetime / 8)
        return before.map { Milliseconds($0) * 1000 / step != now / step } ?? true
    }

    /// Restores a kept success at `time`.
    public mutating func restore(_ key: HashedKey, at time: Milliseconds, now: Milliseconds) {
        guard time <= now, time > now - lifetime, old.count < limit / 2 else { return }
        old[key] = UInt32(clamping: time / 1000)
    }

    /// The end of the second of the latest success, as far as remembered; nil if none counts.
    func lastSuccess(_ key: HashedKey, now: Milliseconds) -> Milliseconds? {
        guard let seconds = young[key] ?? old[key], now - Milliseconds(seconds) * 1000 < lifetime else { return nil }
        return (Milliseconds(seconds) + 1) * 1000
    }

    /// Whether there was a success within the lifetime, as far as remembered.
    public func contains(_ key: HashedKey, now: Milliseconds) -> Bool {
        guard let seconds = young[key] ?? old[key] else { return false }
        return now - Milliseconds(seconds) * 1000 < lifetime
    }

    private mutating func turn(_ now: Milliseconds) {
        if turned == 0 { turned = now }
        guard now - turned >= lifetime || young.count >= max(1, limit / 2) else { return }
        oldest = turned
        old = young
        young = HashedTable()
        turned = now
    }
}
