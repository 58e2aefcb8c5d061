/// How often each token of a module is pushed to: the first push at once, then one every window.
///
/// A push that comes too early waits for the end of the window; those that come while one waits are covered by it. A
/// token whose window is over, and for which nothing waits, costs nothing.
public struct RateLimiter: Sendable {
    public enum Decision: Sendable, Equatable {
        case send
        /// One push is to wait until then.
        case queue(until: Milliseconds)
        /// One waits already; whether that one has become important by this.
        case covered(upgraded: Bool)
    }

    private struct Entry: Sendable {
        /// When the next push may go out.
        var next: Milliseconds
        var isWaiting = false
        var isImportant = false
    }

    public var settings: RateSettings
    private var entries: [HashedKey: Entry] = [:]
    // When to look at an entry again, oldest first; each entry is in here once.
    private var looks = FIFO<(key: HashedKey, at: Milliseconds)>()

    public init(_ settings: RateSettings) { self.settings = settings }

    /// Tokens that cost memory.
    public var count: Int { entries.count }

    /// What to do with a push for a token.
    public mutating func decide(_ key: HashedKey, important: Bool, now: Milliseconds) -> Decision {
        guard settings.isEnabled else { return .send }
        cleanUp(now)
        guard var entry = entries[key] else {
            add(key, Entry(next: now + settings.window), now)
            return .send
        }
        if entry.isWaiting {
            let isUpgrade = important && !entry.isImportant
            entry.isImportant = entry.isImportant || important
            entries[key] = entry
            return .covered(upgraded: isUpgrade)
        }
        if entry.next <= now {
            entry.next = now + settings.window
            entries[key] = entry
            return .send
        }
        entry.isWaiting = true
        entry.isImportant = important
        entries[key] = entry
        return .queue(until: entry.next)
    }

    /// A push that was to be queued, or sent, was not: the place is free again.
    public mutating func forget(_ key: HashedKey, now: Milliseconds) {
        guard var entry = entries[key] else { return }
        if entry.isWaiting {
            entry.isWaiting = false
        } else {
            entry.next = now
        }
        entries[key] = entry
    }

    /// The push that waited is being sent: the window begins anew.
    public mutating func fire(_ key: HashedKey, now: Milliseconds) {
        guard settings.isEnabled else { return }
        if entries[key] == nil { add(key, Entry(next: now), now) }
        entries[key]?.next = now + settings.window
        entries[key]?.isWaiting = false
    }

    /// A push waits from before, or because the provider wants it to: further ones are covered by it.
    public mutating func wait(_ key: HashedKey, important: Bool, until: Milliseconds, now: Milliseconds) {
        guard settings.isEnabled else { return }
        if entries[key] == nil { add(key, Entry(next: until), now) }
        guard var entry = entries[key] else { return }
        entry.next = until
        entry.isImportant = entry.isImportant || important
        entry.isWaiting = true
        entries[key] = entry
    }

    /// Whether the push that waits for a token has become important.
    public func isImportant(_ key: HashedKey) -> Bool { entries[key]?.isImportant == true }

    private mutating func add(_ key: HashedKey, _ entry: Entry, _ now: Milliseconds) {
        entries[key] = entry
        looks.append((key, now + settings.window))
    }

    /// Removes what is over. Each entry is looked at once a window, so that a call has little to do.
    public mutating func cleanUp(_ now: Milliseconds) {
        while let look = looks.first, look.at <= now {
            looks.removeFirst()
            guard let entry = entries[look.key] else { continue }
            if entry.isWaiting || entry.next > now {
                // Looked at in a window again: entries of the same window stay in order.
                looks.append((look.key, now + settings.window))
            } else {
                entries[look.key] = nil
            }
        }
        if entries.isEmpty, entries.capacity > 4096 { entries = [:] }
    }
}
