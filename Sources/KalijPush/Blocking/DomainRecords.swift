/// The domains' latest mistakes, and the number of their tokens.
public struct DomainRecords: Sendable {
    private struct Record: Sendable {
        // When the last mistakes were made, oldest first; no more than count.
        var dead: [Milliseconds] = []
        var malformed: [Milliseconds] = []
        var newFailures: [Milliseconds] = []
        var tokens = 0
        var tokensSince: Milliseconds = 0
        var seen: Milliseconds = 0
    }

    var limits: LimitSettings
    private var records = HashedTable<Record>()

    public init(_ limits: LimitSettings) { self.limits = limits }

    /// Domains in memory.
    public var count: Int { records.count }

    /// Makes sure that a domain has a record.
    /// - Returns: false if there are too many domains.
    public mutating func admit(_ domain: HashedKey, now: Milliseconds) -> Bool {
        if records.update(domain, { $0.seen = now }) != nil { return true }
        guard records.count < limits.domains else { return false }
        records[domain] = Record(seen: now)
        return true
    }

    /// Counts another token within the limiter's window.
    /// - Returns: false if there are too many; the token is not counted then.
    public mutating func useToken(_ domain: HashedKey, window: Milliseconds, now: Milliseconds) -> Bool {
        let limit = limits.tokensPerDomain
        return records.update(domain) { record in
            if now - record.tokensSince >= window {
                record.tokens = 0
                record.tokensSince = now
            }
            guard record.tokens < limit else { return false }
            record.tokens += 1
            return true
        } ?? true
    }

    /// - Returns: whether there are too many now and the domain is to be blocked; counting begins anew then.
    public mutating func malformed(_ domain: HashedKey, now: Milliseconds) -> Bool {
        count(domain, \.malformed, limits.malformed, now)
    }

    /// - Returns: whether there are too many now and the domain is to be blocked; counting begins anew then.
    public mutating func dead(_ domain: HashedKey, now: Milliseconds) -> Bool {
        count(domain, \.dead, limits.deadTokens, now)
    }

    /// A new token has failed.
    public mutating func newTokenFailed(_ domain: HashedKey, now: Milliseconds) {
        let limit = limits.newTokenFailures
        _ = records.update(domain) { record in
            record.newFailures.removeFirst(max(0, record.newFailures.count + 1 - limit))
            record.newFailures.append(now)
        }
    }

    /// Whether new tokens of the domain are let in.
    public func takesNewTokens(_ domain: HashedKey, now: Milliseconds) -> Bool {
        guard let times = records[domain]?.newFailures, times.count >= limits.newTokenFailures, let oldest = times.first
        else { return true }
        return now - oldest >= limits.window
    }

    private mutating func count(
        _ domain: HashedKey, _ path: WritableKeyPath<Record, [Milliseconds]>, _ limit: Int, _ now: Milliseconds
    ) -> Bool {
        let window = limits.window
        return records.update(domain) { record in
            record[keyPath: path].append(now)
            record[keyPath: path].removeAll { now - $0 >= window }
            let isTooMany = record[keyPath: path].count >= limit
            if isTooMany { record[keyPath: path] = [] }
            return isTooMany
        } ?? false
    }

    /// Forgets domains without a publish in the window, in one of 256 parts of the table.
    /// - Returns: whether a round through all parts is complete.
    mutating func cleanUp(_ now: Milliseconds) -> Bool {
        let window = limits.window
        return records.removePart { now - $0.seen >= window }
    }
}
