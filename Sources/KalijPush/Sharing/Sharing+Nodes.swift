extension Sharing {
    /// The nodes of the configuration are these.
    mutating func configure(_ nodes: NodesSettings, _ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        setOthers(nodes.others)
        let (new, gone) = blocks.origins.configure(nodes.name, nodes.others)
        for origin in gone { forget(origin) }
        for origin in new { peers[origin] = Peer(since: now) }
        return gone.map { .exclude(node: blocks.origins.name($0), isForgotten: true) }
    }

    /// Restores an earlier process's state about other nodes.
    /// - Parameter excluded: nodes whose records were wrong too often.
    mutating func restore(
        _ positions: [ReadPosition], _ excluded: [String], _ blocks: inout BlockTables
    ) -> [CoreAction] {
        let origins = blocks.origins
        for name in excluded { if let number = origins.number(of: name) { blocks.origins.exclude(number) } }
        for position in positions {
            guard let link = settings.redis.firstIndex(where: { $0.label == position.server }),
                let origin = origins.number(of: position.node), blocks.origins.isAdmitted(origin), position.entry > 0
            else { continue }
            links[link].positions[origin] = position.entry
        }
        let strangers = Set(positions.map(\.node) + excluded).filter { origins.number(of: $0) == nil }
        return strangers.sorted().map { .exclude(node: $0, isForgotten: true) }
    }

    private mutating func forget(_ origin: UInt16, keepsFigures: Bool = false) {
        if !keepsFigures { peers[origin] = nil }
        peers[origin]?.early = []
        for index in links.indices {
            links[index].positions[origin] = nil
            links[index].gaps.remove(origin)
            links[index].inbox = links[index].inbox.without { $0.origin == origin }
        }
    }

    // MARK: Claims of other nodes

    /// A push was delivered: another node's claim about the token was wrong, or no longer holds.
    /// - Parameters:
    ///   - keys: the token's, of all secrets: the block may be under any of them, or is still in transit.
    ///   - lastSuccess: the latest success of this node before.
    mutating func refute(
        _ flight: InFlightPush, _ keys: [HashedKey], lastSuccess: Milliseconds?, _ blocks: inout BlockTables,
        now: Milliseconds
    ) -> [CoreAction] {
        guard let hearsay = flight.hearsay else { return [] }
        let isStrike = lastSuccess.map { blocks.wall($0) <= BlockChange.time(of: hearsay.version) } ?? false
        var actions: [CoreAction] = []
        for key in keys { actions += blocks.unblock(key, always: keys.count > 1, now: now) }
        return actions + answered(flight, isStrike: isStrike, &blocks, now: now)
    }

    /// A question about another node's record is answered.
    mutating func answered(
        _ flight: InFlightPush, isStrike: Bool, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        guard let origin = flight.hearsay?.origin, var peer = peers[origin] else { return [] }
        let isTooMuch = peer.strikes.record(isStrike: isStrike, now: now)
        if isStrike { peer.struck += 1 }
        peers[origin] = peer
        return isTooMuch && blocks.origins.isAdmitted(origin) ? exclude(origin, &blocks, now: now) : []
    }

    /// Removes all records of a node, until an operator admits the node again.
    private mutating func exclude(
        _ origin: UInt16, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        let name = blocks.origins.name(origin)
        blocks.origins.exclude(origin)
        forget(origin, keepsFigures: true)
        let text =
            "its records are wrong, and count no more: take the node out of nodes.others to let it in again later"
        var actions: [CoreAction] = [
            .exclude(node: name, isForgotten: false), .alarm(module: "nodes.\(name)", text, isOver: false),
        ]
        // Other nodes' records may have been covered by those of the excluded node.
        for index in links.indices {
            for other in blocks.origins.admitted {
                links[index].rereadAt[other] = nil
                actions += reread(other, index, blocks, now: now) ?? []
            }
        }
        return actions
    }
}
