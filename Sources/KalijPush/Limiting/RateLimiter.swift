/// How often each token of a module is pushed to: the first push at once, then one every window.
///
/// A push that arrives too early waits for the end of the window; the waiting push covers later ones in the window. A token after
/// its window, without a waiting push, costs nothing.
public struct RateLimiter: Sendable {
    public enum Decision: Sendable, Equatable {
        case send
        /// The push is to wait until then.
        case queue(until: Milliseconds)
        /// A push waits already; `upgraded` if that push has now become important.
        case covered(upgraded: Bool)
    }

    private struct Entry: Sendable {
        /// The earliest time of the next push.
        var next: Milliseconds
        var isWaiting = false
        var isImportant = false

        mutating func decide(important: Bool, window: Milliseconds, now: Milliseconds) -> Decision {
            if isWaiting {
                defer { isImportant = isImportant || important }
                return .covered(upgraded: important && !isImportant)
            }
            if next <= now {
                next = now + window
                return .send
            }
            isWaiting = true
            isImportant = important
            return .queue(until: next)
        }
    }

    public var settings: RateSettings
    private var entries = HashedTable<Entry>()
    // When to check an entry again, oldest first; each entry is in here once.
    private var checks = FIFO<(key: HashedKey, at: Milliseconds)>()

    public init(_ settings: RateSettings) { self.settings = settings }

    /// Tokens in memory.
    public var count: Int { entries.count }

    /// The decision about a push for a token.
    public mutating func decide(_ key: HashedKey, important: Bool, now: Milliseconds) -> Decision {
        guard settings.isEnabled else { return .send }
        cleanUp(now)
        let window = settings.window
        let decision = entries.update(key) { $0.decide(important: important, window: window, now: now) }
        if decision == nil { add(key, Entry(next: now + window), now) }
        return decision ?? .send
    }

    /// A push to be queued or sent was neither: the place is free again.
    public mutating func forget(_ key: HashedKey, now: Milliseconds) {
        _ = entries.update(key) { entry in
            if entry.isWaiting { entry.isWaiting = false } else { entry.next = now }
        }
    }

    /// The waiting push is being sent: the window begins anew.
    public mutating func fire(_ key: HashedKey, now: Milliseconds) {
        guard settings.isEnabled else { return }
        let next = now + settings.window
        let isThere: Void? = entries.update(key) { entry in
            entry.next = next
            entry.isWaiting = false
        }
        if isThere == nil { add(key, Entry(next: next), now) }
    }

    /// A push waits from before, or at the provider's request: further pushes are covered.
    public mutating func wait(_ key: HashedKey, important: Bool, until: Milliseconds, now: Milliseconds) {
        guard settings.isEnabled else { return }
        let isThere: Void? = entries.update(key) { entry in
            entry.next = until
            // The importance of an earlier waiting push does not carry over to this push.
            entry.isImportant = important || entry.isWaiting && entry.isImportant
            entry.isWaiting = true
        }
        if isThere == nil { add(key, Entry(next: until, isWaiting: true, isImportant: important), now) }
    }

    private mutating func add(_ key: HashedKey, _ entry: Entry, _ now: Milliseconds) {
        entries[key] = entry
        checks.append((key, now + settings.window))
    }

    /// Removes expired entries, in at most a thousand checks. Each entry is checked once a window.
    /// - Returns: whether no expired entry is left.
    @discardableResult
    public mutating func cleanUp(_ now: Milliseconds) -> Bool {
        for _ in 0..<1_000 {
            guard let look = checks.first, look.at <= now else { return true }
            checks.removeFirst()
            guard let entry = entries[look.key] else { continue }
            if entry.isWaiting || entry.next > now {
                // Checked again after a window: entries of the same window stay in order.
                checks.append((look.key, now + settings.window))
            } else {
                entries[look.key] = nil
            }
        }
        return false
    }
}
