import Foundation
import TestSupport
import Testing

@testable import KalijPush

/// Partitions, kills, lost and old data at the servers, wrong clocks, restored disks, full servers: afterwards all nodes
/// know the same within 60 s.
///
/// `make test` plays a few seeds of ten nodes; `Scripts/long simulate-nodes 1000` plays as many as are asked for, from
/// the seed on.
@Suite("A simulation of nodes")
struct NodeSimulationTests {
    /// Numbers of nodes and of seeds.
    private static let worlds: [(nodes: Int, seeds: Int)] = {
        guard let seeds = LongForm.amount("simulate-nodes") else { return [(10, 2)] }
        return [(LongForm.choice("nodes").flatMap { Int($0) } ?? 10, seeds)]
    }()

    @Test(
        "whatever happened, the nodes agree 60 s after it has ended, and nobody cancels for hearsay", arguments: worlds)
    func simulate(nodes: Int, seeds: Int) async throws {
        let first = Int(LongForm.seed ?? 1)
        var times: [Milliseconds] = []
        var bytes = 0.0
        for seed in first..<(first + seeds) {
            let run = try NodeRun(nodes: nodes, seed: UInt64(seed))
            let outcome = try await run.play()
            if let problem = outcome.problem { Issue.record("seed \(seed): \(problem)") }
            times.append(outcome.time)
            bytes = max(bytes, outcome.bytesARecord)
        }
        times.sort()
        let late = times[min(times.count - 1, times.count * 99 / 100)]
        print(
            "\(times.count) seeds of \(nodes) nodes: equal after \(times[times.count / 2]) ms (half of them), \(late) ms "
                + "(99 of 100), \(times.last ?? 0) ms (all); at most \(Int(bytes)) bytes written for each record")
    }
}

/// A seed's run.
struct NodeRun {
    struct Outcome {
        var problem: String?
        /// From the end of all faults until all nodes are equal.
        var time: Milliseconds
        var bytesARecord: Double
    }

    let world: NodeWorld
    /// What a node has lost together with its disk, and its stream together with the servers, nobody can tell the node.
    /// So a run has old disks or servers with old data.
    private let hasOldDisks: Bool

    init(nodes: Int, seed: UInt64) throws {
        var random = Generator(seed: seed)
        hasOldDisks = .random(using: &random)
        // Every second seed has endpoints of push services in place of tokens.
        world = try NodeWorld(
            nodes: nodes, servers: .random(in: 1...3, using: &random), seed: seed, endpoints: seed % 2 == 0)
    }

    /// Lets other tests run in between: Swift has a thread for each processor.
    func play() async throws -> Outcome {
        world.run(for: 10_000)
        world.isDeadly = true
        var old: [Int: SimulatedRedis] = [:]
        var disks: [Int: NodeWorld.Disk] = [:]
        for _ in 0..<240 {
            for _ in 0..<Int.random(in: 0...6, using: &world.random) { publish() }
            try fault(&old, &disks)
            world.run(for: .random(in: 500...3_000, using: &world.random))
            await Task.yield()
        }
        return try await heal()
    }

    private func pick(_ count: Int) -> Int { .random(in: 0..<count, using: &world.random) }

    private func publish() {
        let token = "t\(pick(400))"
        if pick(8) == 0 { world.dead.formSymmetricDifference([token]) }
        world.publish(token, at: pick(world.nodes.count))
    }

    private func fault(_ old: inout [Int: SimulatedRedis], _ disks: inout [Int: NodeWorld.Disk]) throws {
        let (node, server) = (pick(world.nodes.count), pick(world.servers.count))
        switch pick(40) {
        case 0...2: world.cut.insert([node, server])
        case 3: for other in world.servers.indices { world.cut.insert([node, other]) }
        case 4...6:
            if !world.cut.isEmpty {
                world.cut.remove(world.cut.sorted { $0.lexicographicallyPrecedes($1) }[pick(world.cut.count)])
            }
        case 7: world.cut = []
        case 8: world.hung.insert(server)
        case 9, 10: world.hung = []
        case 11 where !hasOldDisks: world.servers[server].streams = [:]
        case 12, 13: old[server] = world.servers[server]
        case 14 where !hasOldDisks: if let copy = old[server] { world.servers[server].streams = copy.streams }
        case 15: world.servers[server].isFull = true
        case 16, 17: world.servers[server].isFull = false
        case 18, 19: world.kill(node)
        case 20...22: try world.start(node)
        case 23: disks[node] = world.nodes[node].disk
        case 24 where hasOldDisks:
            world.kill(node)
            try world.start(node, disk: disks[node])
        case 25: world.nodes[node].skew = .random(in: -600_000...600_000, using: &world.random)
        case 26, 27: world.nodes[node].skew = 0
        case 28: world.drop(node, server)
        case 29:
            for link in world.servers.indices { world.nodes[node].core.sharing?.links[link].own.nextSnapshot = 0 }
        default: break
        }
    }

    private func heal() async throws -> Outcome {
        world.isDeadly = false
        world.cut = []
        world.hung = []
        for index in world.servers.indices { world.servers[index].isFull = false }
        for index in world.nodes.indices {
            world.nodes[index].skew = 0
            try world.start(index)
        }
        // Records of a clock that was ahead count when their time has come.
        let latest =
            world.nodes.flatMap { node in
                node.core.blocks.tokens.records(now: node.core.blocks.wall(world.now)).map(\.time)
            }.max() ?? 0
        while world.now < latest {
            world.run(for: 5_000)
            await Task.yield()
        }
        let began = world.now
        var problem: String?
        while !world.areEqual {
            world.run(for: 1_000)
            await Task.yield()
            guard world.now - began < 120_000 else {
                problem = difference()
                break
            }
        }
        let time = world.now - began
        if time > 60_000, problem == nil { problem = "equal only after \(time) ms" }
        if let violation = world.violations.first { problem = violation }
        let records = max(1, world.records(0).count)
        let bytes = world.nodes.map(\.bytes).max() ?? 0
        return Outcome(problem: problem, time: time, bytesARecord: Double(bytes) / Double(records))
    }

    private func difference() -> String {
        let first = Set(world.records(0))
        for index in world.nodes.indices.dropFirst() {
            let other = Set(world.records(index))
            let (missing, more) = (first.subtracting(other), other.subtracting(first))
            if !missing.isEmpty || !more.isEmpty {
                return "n\(index) lacks \(missing.count) of n0's records and has \(more.count) others: "
                    + "\(missing.sorted().prefix(2)), \(more.sorted().prefix(2))"
            }
        }
        return ""
    }
}
