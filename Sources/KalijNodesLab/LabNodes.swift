import KalijLab
import KalijPushLab

/// Nodes with a real Redis between them; everything ends with the laboratory.
public struct LabNodes: Sendable {
    public let redis: LabRedis
    public let nodes: [LabNode]

    /// Starts Redis, then the nodes; returns when all are connected to their XMPP servers and to Redis.
    /// - Throws: `LaboratoryError` if a program is missing or does not start.
    public init(_ plan: LabNode.Plan, in laboratory: Laboratory) async throws {
        try PushKeys.make(in: laboratory.directory)
        for name in ["cluster-secret", "new-secret"] {
            try writeLabFile(String(repeating: name, count: 4), to: laboratory.path(name))
        }
        redis = try LabRedis(laboratory, nodes: plan.names)
        try await redis.start()
        let redis = redis
        nodes = try plan.names.map { try LabNode($0, plan, redis, laboratory) }
        for node in nodes { try node.start() }
        let nodes = nodes
        guard await waits(until: { nodes.allSatisfy { $0.figures("node_link_up")?.values.min() == 1 } }) != nil
        else {
            throw LaboratoryError("the nodes have not connected to Redis: \(nodes.map(\.log))")
        }
    }

    /// Ends the servers of this process; the laboratory ends the others.
    public func stop() {
        for node in nodes {
            node.server.stop()
            node.apns.stop()
            node.line.stop()
        }
    }

    /// Whether all nodes have the same records of each node.
    public var areEqual: Bool {
        let views = nodes.map { [$0.figures("node_records"), $0.figures("node_digest")] }
        return views.allSatisfy { $0 == views[0] && !$0.contains(nil) }
    }
}

/// Waits for something to become true, and checks it twenty times a second.
/// - Parameter seconds: for a demonstration; else the time after which something counts as hung.
/// - Returns: after how many seconds; nil if it is not true within the time.
public func waits(
    _ seconds: Double = LabLimits.hang, until isTrue: () throws -> Bool
) async rethrows -> Double? {
    let began = ContinuousClock.now
    while true {
        let isTrue = try isTrue()
        let passed = (ContinuousClock.now - began) / .seconds(1)
        if isTrue { return passed }
        if passed > seconds { return nil }
        try? await sleep(for: .milliseconds(50))
    }
}
