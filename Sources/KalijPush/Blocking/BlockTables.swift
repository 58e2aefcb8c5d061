/// The blocked tokens, and the blocked domains in a table of their own: neither pushes the other out.
public struct BlockTables: Sendable {
    public internal(set) var tokens: Blocklist
    public internal(set) var domains: Blocklist
    /// How far the wall clock is ahead of the steady clock. Versions of blocks are made with the wall clock.
    var wallOffset: Milliseconds = 0
    /// No block lasts longer.
    private var longest: Milliseconds = 0

    init(_ settings: Settings) {
        tokens = Blocklist(limit: settings.limits.blockedTokens)
        domains = Blocklist(limit: settings.limits.blockedDomains)
        reload(settings)
    }

    mutating func reload(_ settings: Settings) {
        tokens.limit = settings.limits.blockedTokens
        domains.limit = settings.limits.blockedDomains
        let times = settings.modules.values.map { max($0.blocking.deadAgain, $0.blocking.badAgain) }
        longest = max(times.max() ?? 0, settings.limits.domainBlock, 86_400_000)
    }

    /// Blocks a token that is proven to be of no use.
    mutating func condemn(
        _ token: HashedKey, _ reason: BlockReason, _ times: BlockingSettings, now: Milliseconds
    ) -> [CoreAction] {
        let (time, again) = reason == .dead ? (times.dead, times.deadAgain) : (times.bad, times.badAgain)
        return action(
            tokens.block(token, reason: reason, for: time, again: again, now: now, wall: now + wallOffset))
    }

    /// Blocks a domain for its mistakes.
    mutating func block(domain: HashedKey, for time: Milliseconds, now: Milliseconds) -> [CoreAction] {
        action(
            domains.block(domain, reason: .mistakes, for: time, again: time, now: now, wall: now + wallOffset))
    }

    /// Ends the blocks of tokens that were not accepted.
    mutating func pardon(_ refused: some Sequence<HashedKey>, now: Milliseconds) -> [CoreAction] {
        refused.filter { tokens.reason($0, now: now) == .bad }
            .flatMap { action(tokens.unblock($0, now: now, wall: now + wallOffset)) }
    }

    /// A blocked token is published again.
    mutating func hit(
        _ token: HashedKey, _ reason: BlockReason, _ times: BlockingSettings, now: Milliseconds
    ) -> [CoreAction] {
        let longest = reason == .dead ? times.deadAgain : times.badAgain
        guard let until = tokens.hit(token, extension: times.hit, longest: longest, now: now) else { return [] }
        return [.hit(BlockHit(key: token, until: until))]
    }

    /// A token blocked under its key of the former secret is blocked under its new key.
    mutating func move(_ old: HashedKey, to token: HashedKey, now: Milliseconds) -> [CoreAction] {
        guard let reason = tokens.reason(old, now: now), let end = tokens.expiry(old, now: now) else { return [] }
        return action(
            tokens.block(token, reason: reason, for: end - now, again: 0, now: now, wall: now + wallOffset))
    }

    /// Takes blocks of an earlier process.
    /// - Returns: the blocks that were longer than any block of ours.
    mutating func restore(_ blocks: [BlockChange], _ hits: [BlockHit], now: Milliseconds) -> [CoreAction] {
        let held = Dictionary(hits.map { ($0.key, min($0.until, now + longest)) }) { max($0, $1) }
        return blocks.flatMap { block -> [CoreAction] in
            var kept = block
            kept.expires = min(block.expires, now + longest)
            let isNew =
                kept.reason == .mistakes
                ? domains.merge(kept, now: now) : tokens.merge(kept, held: held[kept.key] ?? 0, now: now)
            return isNew && kept != block ? [.block(kept)] : []
        }
    }

    /// Removes expired entries of a part of the tables.
    /// - Returns: whether a round through all parts is complete.
    mutating func cleanUp(_ now: Milliseconds) -> Bool {
        _ = domains.cleanUp(now)
        return tokens.cleanUp(now)
    }

    private func action(_ change: BlockChange?) -> [CoreAction] { change.map { [.block($0)] } ?? [] }
}
