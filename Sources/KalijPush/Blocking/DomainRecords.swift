/// The domains' latest mistakes, and the number of their tokens.
///
/// Mistakes count by share, and only above a number: a large domain always has some dead tokens, and a small one may have a bad
/// day. A publish that this server itself refuses is no mistake.
public struct DomainRecords: Sendable {
    private struct Record: Sendable {
        /// Has the domain and all others below the same registered name.
        var owner: HashedKey
        var tally = SlidingWindow()
        var tokens = 0
        var tokensSince: Milliseconds = 0
        var seen: Milliseconds
    }

    var limits: LimitSettings { didSet { places.limit = limits.domains } }
    private var records = HashedTable<Record>()
    private var places: FairQuota

    public init(_ limits: LimitSettings) {
        self.limits = limits
        places = FairQuota(limit: limits.domains)
    }

    /// Domains in memory.
    public var count: Int { records.count }

    /// Makes sure that a domain has a record.
    /// - Returns: false if there are too many domains, or too many of this owner.
    public mutating func admit(_ domain: HashedKey, of owner: HashedKey, now: Milliseconds) -> Bool {
        if records.update(domain, { $0.seen = now }) != nil { return true }
        guard places.hasRoom(for: owner) else { return false }
        places.acquire(owner)
        records[domain] = Record(owner: owner, seen: now)
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

    /// The domain's server has published.
    /// - Returns: whether too much is malformed and the domain is to be blocked; counting begins anew then.
    public mutating func published(_ domain: HashedKey, malformed: Bool, now: Milliseconds) -> Bool {
        count(domain, SlidingWindow.Counts(publishes: 1, malformed: malformed ? 1 : 0), now) { counts, limits in
            limits.isTooMany(counts.malformed, of: counts.publishes, from: limits.malformed)
        }
    }

    /// The provider has judged a push.
    /// - Parameter isNew: whether the token has had no success before.
    /// - Returns: whether too many tokens are dead and the domain is to be blocked; counting begins anew then.
    public mutating func judged(_ domain: HashedKey, dead: Bool, isNew: Bool, now: Milliseconds) -> Bool {
        let one: Int32 = dead ? 1 : 0
        let event = SlidingWindow.Counts(judged: 1, dead: one, newJudged: isNew ? 1 : 0, newDead: isNew ? one : 0)
        return count(domain, event, now) { counts, limits in
            limits.isTooMany(counts.dead, of: counts.judged, from: limits.deadTokens)
        }
    }

    /// Whether new tokens of the domain are accepted.
    public mutating func takesNewTokens(_ domain: HashedKey, now: Milliseconds) -> Bool {
        let limits = limits
        return records.update(domain) { record in
            record.tally.moveOn(limits.window, now)
            let counts = record.tally.sum
            return !limits.isTooMany(counts.newDead, of: counts.newJudged, from: limits.newTokenFailures)
        } ?? true
    }

    /// Whether many pushes of the domain were accepted in the window.
    mutating func isInGoodStanding(_ domain: HashedKey, now: Milliseconds) -> Bool {
        let window = limits.window
        return records.update(domain) { record in
            record.tally.moveOn(window, now)
            return record.tally.sum.judged - record.tally.sum.dead >= 50
        } ?? false
    }

    private mutating func count(
        _ domain: HashedKey, _ event: SlidingWindow.Counts, _ now: Milliseconds,
        isTooMany: (SlidingWindow.Counts, LimitSettings) -> Bool
    ) -> Bool {
        let limits = limits
        return records.update(domain) { record in
            record.tally.add(event, window: limits.window, now: now)
            guard isTooMany(record.tally.sum, limits) else { return false }
            record.tally.clear()
            return true
        } ?? false
    }

    /// Forgets domains without a publish in the window, in one of 256 parts of the table.
    /// - Returns: whether a round through all parts is complete.
    mutating func cleanUp(_ now: Milliseconds) -> Bool {
        let window = limits.window
        var gone: [HashedKey] = []
        let isOver = records.removePart { _, record in
            guard now - record.seen >= window else { return false }
            gone.append(record.owner)
            return true
        }
        for owner in gone { places.release(back: owner) }
        return isOver
    }
}

extension LimitSettings {
    /// Whether mistakes are more than a number and more than a share.
    func isTooMany(_ mistakes: Int32, of all: Int32, from number: Int) -> Bool {
        Int(mistakes) >= number && Int(mistakes) * 100 >= Int(all) * mistakesPercent
    }
}
