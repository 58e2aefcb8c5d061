/// What the domains have done wrong lately, and how many tokens they use.
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
    private var records: [HashedKey: Record] = [:]
    private var nextCleanUp: Milliseconds = 0

    public init(_ limits: LimitSettings) { self.limits = limits }

    /// Domains that cost memory.
    public var count: Int { records.count }

    /// Makes sure that there is a record of a domain.
    /// - Returns: false if there are too many domains.
    public mutating func admit(_ domain: HashedKey, now: Milliseconds) -> Bool {
        cleanUp(now)
        if records[domain] == nil {
            guard records.count < limits.domains else { return false }
            records[domain] = Record()
        }
        records[domain]?.seen = now
        return true
    }

    /// One more token is used within the limiter's window.
    /// - Returns: false if that would be too many; it is not counted then.
    public mutating func useToken(_ domain: HashedKey, window: Milliseconds, now: Milliseconds) -> Bool {
        guard var record = records[domain] else { return true }
        if now - record.tokensSince >= window {
            record.tokens = 0
            record.tokensSince = now
        }
        guard record.tokens < limits.tokensPerDomain else { return false }
        record.tokens += 1
        records[domain] = record
        return true
    }

    /// - Returns: whether that is one too many, so that the domain is to be blocked; counting begins anew then.
    public mutating func malformed(_ domain: HashedKey, now: Milliseconds) -> Bool {
        count(domain, \.malformed, limits.malformed, now)
    }

    /// - Returns: whether that is one too many, so that the domain is to be blocked; counting begins anew then.
    public mutating func dead(_ domain: HashedKey, now: Milliseconds) -> Bool {
        count(domain, \.dead, limits.deadTokens, now)
    }

    /// A token that was new has failed.
    public mutating func newTokenFailed(_ domain: HashedKey, now: Milliseconds) {
        guard var times = records[domain]?.newFailures else { return }
        if times.count >= limits.newTokenFailures { times.removeFirst() }
        times.append(now)
        records[domain]?.newFailures = times
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
        guard var times = records[domain]?[keyPath: path] else { return false }
        times.append(now)
        times.removeAll { now - $0 >= limits.window }
        let isTooMany = times.count >= limit
        records[domain]?[keyPath: path] = isTooMany ? [] : times
        return isTooMany
    }

    /// Forgets domains without anything that still counts; at most once a minute.
    private mutating func cleanUp(_ now: Milliseconds) {
        guard now >= nextCleanUp else { return }
        nextCleanUp = now + 60_000
        records = records.filter { now - $0.value.seen < limits.window }
    }
}
