extension PushCore {
    /// Something has happened at a connection to a server, or there is time to take an entry.
    public mutating func nodes(_ event: ClusterEvent, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        guard var sharing else { return [] }
        self.sharing = nil
        defer { self.sharing = sharing }
        switch event {
        case .connected(let link): return sharing.connected(link, blocks, now: now)
        case .disconnected(let link):
            sharing.disconnected(link)
            return []
        case .reply(let reply, let link): return sharing.received(reply, link, &blocks, now: now)
        case .turn: return sharing.processEntry(&blocks, now: now)
        case .configured(let nodes): return sharing.configure(nodes, &blocks, now: now)
        case .restored(let positions, let excluded): return sharing.restore(positions, excluded, &blocks)
        }
    }
}
