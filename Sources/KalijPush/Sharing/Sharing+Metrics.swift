extension Sharing {
    /// Figures of the servers and of the other nodes.
    func addMetrics(_ text: inout MetricsText, _ blocks: BlockTables, now: Milliseconds) {
        let servers = Array(zip(settings.redis.map(\.label), links))
        text.family("kalij_push_node_link_up", "gauge", "Whether a server of the nodes' streams is connected.")
        for (server, link) in servers {
            text.sample("kalij_push_node_link_up", [("server", server)], link.isUp ? 1 : 0)
        }
        text.family("kalij_push_node_clock_seconds", "gauge", "How far this node's clock is ahead of a server's.")
        for (server, link) in servers {
            guard let offset = link.clockOffset else { continue }
            text.sample("kalij_push_node_clock_seconds", [("server", server)], Double(offset) / 1000)
        }
        let origins =
            [NodeRegistry.here]
            + blocks.origins.all.dropFirst().map { UInt16(truncatingIfNeeded: $0) }
            .filter { blocks.origins.standing($0) != .absent }
        let named = origins.map { (name: blocks.origins.name($0), number: $0) }
        addTables(&text, named, blocks)
        text.family("kalij_push_node_taken_total", "counter", "Records taken, by node.")
        for (name, number) in named {
            guard let peer = peers[number] else { continue }
            text.sample("kalij_push_node_taken_total", [("node", name)], peer.accepted)
        }
        text.family("kalij_push_node_refused_total", "counter", "Records and entries refused, by node and reason.")
        for (name, number) in named {
            guard let peer = peers[number] else { continue }
            for reason in Refusal.allCases {
                text.sample(
                    "kalij_push_node_refused_total", [("node", name), ("reason", reason.rawValue)],
                    peer.refused[reason] ?? 0)
            }
        }
        addPeers(&text, named, blocks, now: now)
    }

    private func addTables(
        _ text: inout MetricsText, _ named: [(name: String, number: UInt16)], _ blocks: BlockTables
    ) {
        text.family("kalij_push_node_records", "gauge", "Records of both tables, by node.")
        for (name, number) in named {
            let count = blocks.tokens.shares[number].count + blocks.domains.shares[number].count
            text.sample("kalij_push_node_records", [("node", name)], count)
        }
        text.family(
            "kalij_push_node_digest", "gauge", "32 bits of all records, by node; equal where records are equal.")
        for (name, number) in named {
            let digest = blocks.tokens.shares[number].digest ^ blocks.domains.shares[number].digest
            text.sample("kalij_push_node_digest", [("node", name)], digest >> 32)
        }
    }

    private func addPeers(
        _ text: inout MetricsText, _ named: [(name: String, number: UInt16)], _ blocks: BlockTables,
        now: Milliseconds
    ) {
        let others = named.compactMap { name, number in peers[number].map { (name, number, $0) } }
        text.family("kalij_push_node_strikes_total", "counter", "Records that were wrong, by node.")
        for (name, _, peer) in others { text.sample("kalij_push_node_strikes_total", [("node", name)], peer.struck) }
        text.family("kalij_push_node_gaps_total", "counter", "Entries that were missing, by node.")
        for (name, _, peer) in others { text.sample("kalij_push_node_gaps_total", [("node", name)], peer.gaps) }
        text.family("kalij_push_node_lag_seconds", "gauge", "Age of the latest entry that was read, by node.")
        for (name, _, peer) in others where peer.latest > 0 {
            text.sample("kalij_push_node_lag_seconds", [("node", name)], lag(of: peer, blocks, now: now) / 1000)
        }
        text.family("kalij_push_node_admitted", "gauge", "0 for a node whose records count no more.")
        for (name, number, _) in others {
            text.sample("kalij_push_node_admitted", [("node", name)], blocks.origins.isAdmitted(number) ? 1 : 0)
        }
    }
}
