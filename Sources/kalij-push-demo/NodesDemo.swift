import Glibc
import KalijLab
import KalijNodesLab
import KalijText

/// Three nodes and a real Redis: each block that a node has proven reaches all nodes, whatever happens to Redis and to the
/// connections.
struct NodesDemo {
    private let redis: LabRedis
    private let nodes: [LabNode]
    private let say: (PrintedText) -> Void
    private let began = ContinuousClock.now

    /// A guarantee of Documentation/Nodes.md that was not met.
    private struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter executable: the path of `kalij-push`.
    /// - Throws: an error if a program is missing, or a guarantee is not met.
    static func run(_ executable: String, say: @escaping (PrintedText) -> Void) async throws {
        let laboratory = try Laboratory()
        laboratory.cleanUpWhenInterrupted()
        defer { laboratory.close() }
        say("Three kalij-push start, each with an XMPP server and a provider of its own, and a Redis between them.")
        let started = try await LabNodes(LabNode.Plan(executable: executable), in: laboratory)
        defer { started.stop() }
        let demo = NodesDemo(redis: started.redis, nodes: started.nodes, say: say)
        try await demo.death()
        try await demo.partition(started)
        try await demo.hearsay(started)
        try await demo.emptyRedis(started)
        say("\nAll as promised.")
    }

    private init(redis: LabRedis, nodes: [LabNode], say: @escaping (PrintedText) -> Void) {
        (self.redis, self.nodes, self.say) = (redis, nodes, say)
    }

    // MARK: The scenes

    private func death() async throws {
        say("\n1. A device dies, and node 1 is the first to be asked for a push to it.")
        try bury(1, at: 0)
        let seconds = try await within(5, "nodes 2 and 3 do not know of the device") {
            nodes[1].records == 1 && nodes[2].records == 1
        }
        tell("nodes 2 and 3 know it, \(tenths(seconds)) s after node 1's answer")
        try expectHearsay(1, at: [1, 2])
        tell("both answer \"wait\" to a publish, and have not asked their providers; only node 1 may say \"cancel\"")
    }

    private func partition(_ all: LabNodes) async throws {
        say("\n2. Node 3's line to Redis falls silent for 15 s. Devices die on both sides, and pushes go on.")
        nodes[2].line.silence(true)
        for number in 100..<140 { try bury(number, at: number % 4 < 2 ? number % 4 : 2) }
        tell("40 devices have died: 20 at nodes 1 and 2, 20 at node 3")
        let slowest = try await push(seconds: 15)
        tell("all pushes at all nodes were delivered; the slowest answer took \(Int((slowest * 1000).rounded())) ms")
        guard !all.areEqual else { throw Broken(description: "the silent line was not silent") }
        nodes[2].line.silence(false)
        tell("the line is back")
        let seconds = try await within(60, "the nodes do not agree") {
            all.areEqual && nodes[0].records == 41
        }
        tell("\(tenths(seconds)) s later all three know all 41 devices")
        for number in [100, 101, 102] { try expectHearsay(number, at: number == 102 ? [0, 1] : [2]) }
    }

    private func hearsay(_ all: LabNodes) async throws {
        say("\n3. Node 2 has pushed to a device not long ago, and hears from node 1 that it is gone.")
        try expect("result", of: 200, at: 1)
        let before = nodes[1].records ?? 0
        try bury(200, at: 0)
        _ = try await within(5, "node 2 hears nothing") { nodes[1].records == before + 1 }
        try expect("result", of: 200, at: 1)
        guard nodes[1].apns.requests(for: token(200)) == 2 else {
            throw Broken(description: "node 2 has not asked its provider")
        }
        tell("node 2 asks its own provider all the same, and the device takes the push: the block is not true")
        let seconds = try await within(5, "the block does not end") { all.areEqual }
        for node in [0, 2] { try expect("result", of: 200, at: node) }
        tell("\(tenths(seconds)) s later the block has ended everywhere: nodes 1 and 3 deliver to the device")
    }

    private func emptyRedis(_ all: LabNodes) async throws {
        say("\n4. Redis is killed, and starts without any data.")
        let records = nodes[0].records
        await redis.kill()
        _ = try await push(seconds: 2)
        tell("pushes go on without Redis")
        try await redis.start()
        tell("Redis is back, and empty")
        let began = ContinuousClock.now
        for node in nodes {
            while try await redis.entries(of: node.name) == 0 {
                guard ContinuousClock.now - began < .seconds(60) else {
                    throw Broken(description: "\(node.name) has not written its records again within 60 s")
                }
                try await sleep(for: .milliseconds(100))
            }
        }
        tell("\(tenths((ContinuousClock.now - began) / .seconds(1))) s later each node has written its records again")
        try nodes[2].loseDisk()
        let seconds = try await within(60, "node 3 does not find its records in Redis") {
            all.areEqual && nodes[2].records == records
        }
        tell(
            "node 3 has lost its disk, and \(tenths(seconds)) s after its start it has read all \(records ?? 0) records"
        )
        try expectHearsay(100, at: [2])
    }

    // MARK: Steps

    private func token(_ number: Int) -> String { String(repeating: "d", count: 56) + String(10_000_000 + number) }

    /// A few devices for each domain: many dead devices of one domain would block the domain.
    private func domain(_ number: Int) -> String { "server\(number / 5).example" }

    private func bury(_ number: Int, at node: Int) throws {
        nodes[node].bury(token(number))
        try expect("cancel", of: number, at: node)
        if number == 1 { tell("node 1 asks its provider, hears that it is gone, and answers \"cancel\"") }
    }

    private func expect(_ answer: String, of number: Int, at node: Int) throws {
        let given = nodes[node].ask(token(number), domain: domain(number)) ?? "nothing"
        guard given == answer else {
            throw Broken(description: "\(nodes[node].name) answers \(given) and not \(answer) for device \(number)")
        }
    }

    /// Expects a block from another node: the response is `wait`, and no request is sent to the provider.
    private func expectHearsay(_ number: Int, at places: [Int]) throws {
        for place in places {
            try expect("wait", of: number, at: place)
            guard nodes[place].apns.requests(for: token(number)) == 0 else {
                throw Broken(description: "\(nodes[place].name) has asked its provider for device \(number)")
            }
        }
    }

    /// Publishes at all nodes, ten per second at each.
    /// - Returns: the slowest response, in seconds.
    private func push(seconds: Int) async throws -> Double {
        var slowest = 0.0
        for number in 0..<seconds * 10 {
            for node in nodes {
                let answer = node.server.wait(for: node.server.publish(token(1000 + number % 10)))
                guard let answer, answer.type == "result" else {
                    throw Broken(description: "\(node.name) answers \(answer?.type ?? "nothing") to a good publish")
                }
                slowest = max(slowest, answer.seconds)
            }
            try await sleep(for: .milliseconds(100))
        }
        return slowest
    }

    private func within(_ seconds: Double, _ otherwise: String, isTrue: () -> Bool) async throws -> Double {
        guard let passed = await waits(seconds, until: isTrue) else {
            throw Broken(description: "\(otherwise) within \(Int(seconds)) s")
        }
        return passed
    }

    private func tell(_ text: String) { say("  \(tenths((ContinuousClock.now - began) / .seconds(1))) s: \(text)") }

    private func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
