/// The blocked tokens, and the blocked domains in a table of their own: neither pushes the other out.
public struct BlockTables: Sendable {
    public internal(set) var tokens: TokenBlocklist
    public internal(set) var domains: TokenBlocklist
    /// How far the wall clock is ahead of the steady clock. Blocks and their versions are in the wall clock's time.
    var wallOffset: Milliseconds = 0
    /// Records of this node that are to be sent to the others. Always empty if there are no others.
    var fresh = FreshRecords()

    init(_ settings: Settings) {
        tokens = TokenBlocklist(limit: settings.limits.blockedTokens)
        domains = TokenBlocklist(limit: settings.limits.blockedDomains)
        reload(settings)
    }

    mutating func reload(_ settings: Settings) {
        let nodes = settings.nodes
        let longest = nodes?.longestBlock ?? settings.longestBlock
        tokens.limit = settings.limits.blockedTokens
        domains.limit = settings.limits.blockedDomains
        (tokens.maxBlock, domains.maxBlock) = (longest, longest)
        (tokens.isShared, domains.isShared) = (nodes != nil, nodes != nil)
        fresh.isEnabled = nodes != nil
    }

    /// The state of a token, or of a domain, under its keys: the present secret's, and those of other secrets.
    func standing(_ keys: [HashedKey], _ table: KeyPath<BlockTables, TokenBlocklist>, now: Milliseconds) -> Standing {
        var found = Standing.free
        for key in keys {
            switch self[keyPath: table].standing(key, now: wall(now)) {
            case .free: continue
            case .proven(let reason): return .proven(reason)
            case .hearsay(let hearsay): found = .hearsay(hearsay)
            }
        }
        return found
    }

    /// Whether all publishes of a domain are refused.
    /// - Parameter isTrusted: whether many pushes of the domain were accepted here lately.
    func isBlocked(domain keys: [HashedKey], isTrusted: Bool, now: Milliseconds) -> Bool {
        switch standing(keys, \.domains, now: now) {
        case .free: false
        case .proven: true
        // Another node's claim counts for an hour, and not against this node's own observations.
        case .hearsay(let hearsay): !isTrusted && wall(now) - BlockChange.time(of: hearsay.version) < 3_600_000
        }
    }

    /// Blocks a token that is proven to be invalid.
    mutating func condemn(
        _ token: HashedKey, _ reason: BlockReason, _ times: BlockingSettings, now: Milliseconds
    ) -> [CoreAction] {
        let (time, again) = reason == .dead ? (times.dead, times.deadAgain) : (times.bad, times.badAgain)
        return action(tokens.block(token, reason: reason, for: time, again: again, now: wall(now)), isDomain: false)
    }

    /// Blocks a domain for its mistakes.
    mutating func block(domain: HashedKey, for time: Milliseconds, now: Milliseconds) -> [CoreAction] {
        action(
            domains.block(domain, reason: .mistakes, for: time, again: time, now: wall(now)), isDomain: true)
    }

    /// Ends the blocks of tokens that were not accepted.
    mutating func pardon(_ refused: some Sequence<HashedKey>, now: Milliseconds) -> [CoreAction] {
        refused.filter { tokens.standing($0, now: wall(now)) == .proven(.bad) }.flatMap { unblock($0, now: now) }
    }

    /// Ends a token's block, whichever node has proven the block.
    mutating func unblock(_ token: HashedKey, always: Bool = false, now: Milliseconds) -> [CoreAction] {
        action(tokens.unblock(token, always: always, now: wall(now)), isDomain: false)
    }

    /// A blocked token is published again.
    mutating func hit(
        _ keys: [HashedKey], _ reason: BlockReason, _ times: BlockingSettings, now: Milliseconds
    ) -> [CoreAction] {
        let longest = reason == .dead ? times.deadAgain : times.badAgain
        return keys.compactMap { key in
            tokens.hit(key, extension: times.hit, longest: longest, now: wall(now))
                .map { .hit(BlockHit(key: key, until: $0)) }
        }
    }

    /// Takes blocks of an earlier process.
    mutating func restore(_ blocks: [BlockChange], _ hits: [BlockHit], now: Milliseconds) {
        let latest = wall(now) + tokens.maxBlock
        let held = Dictionary(hits.map { ($0.key, min($0.until, latest)) }) { max($0, $1) }
        for block in blocks { merge(block, held: held[block.key] ?? 0, now: now) }
    }

    /// Takes a record from elsewhere.
    /// - Returns: whether the record was newer than the present record.
    @discardableResult
    mutating func merge(_ change: BlockChange, held: Milliseconds = 0, now: Milliseconds) -> Bool {
        change.reason == .mistakes
            ? domains.merge(change, now: wall(now)) : tokens.merge(change, held: held, now: wall(now))
    }

    /// Removes entries that are no longer needed from a part of the tables.
    /// - Returns: whether a round through all parts is complete.
    mutating func cleanUp(_ now: Milliseconds) -> Bool {
        _ = domains.cleanUp(wall(now))
        return tokens.cleanUp(wall(now))
    }

    func wall(_ now: Milliseconds) -> Milliseconds { now + wallOffset }

    private mutating func action(_ change: BlockChange?, isDomain: Bool) -> [CoreAction] {
        guard let change else { return [] }
        fresh.add(SharedKey(key: change.key, isDomain: isDomain))
        return [.block(change)]
    }
}

extension Settings {
    /// No block of these settings lasts longer.
    var longestBlock: Milliseconds {
        let times = modules.values.flatMap { module -> [Milliseconds] in
            let blocking = module.blocking
            return [blocking.dead, blocking.deadAgain, blocking.bad, blocking.badAgain]
        }
        return max(times.max() ?? 0, limits.domainBlock, 86_400_000)
    }
}
