import Foundation
import KalijLab
import KalijPushLab
import Testing

@Suite("Several nodes share what is proven, through a real Redis", .serialized)
struct NodesTests {
    private static let names = ["n1", "n2", "n3"]

    /// Nodes, each with an XMPP server and a provider of its own.
    private final class Nodes {
        let redis: RedisStage
        private(set) var stages: [PushStage] = []
        private(set) var servers: [LabComponentServer] = []

        init(_ folder: String) throws {
            redis = try RedisStage(folder: folder + "/redis", nodes: names)
            try redis.start()
            let secret = folder + "/cluster-secret"
            try String(repeating: "s", count: 48).write(toFile: secret, atomically: true, encoding: .utf8)
            for name in names {
                let server = try LabComponentServer(key: "component-key")
                let nodes = redis.settings(name, others: names.filter { $0 != name }, secret: secret)
                let stage = try PushStage(
                    folder: "\(folder)/\(name)", port: server.port, more: ["nodes": nodes], window: nil)
                servers.append(server)
                stages.append(stage)
                try stage.start()
            }
            for server in servers { try #require(server.wait(seconds: 20) { server.isReady }) }
        }

        deinit { for server in servers { server.stop() } }

        /// The answer to a publish at a node: its type.
        func publish(_ token: String, at node: Int) -> String? {
            servers[node].wait(for: servers[node].publish(token, module: "apple"))?.type
        }

        /// How many records a node has, of all nodes.
        func records(_ node: Int) async throws -> Int { try await stages[node].metric("node_records") }
    }

    private func token(_ number: Int) -> String { String(repeating: "d", count: 56) + String(10_000_000 + number) }

    @Test("dead on one, known on all within 5 s, cancelled on one; then Redis hangs, is emptied, and is killed")
    func share() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-nodes")
        defer { folder.remove() }
        let nodes = try Nodes(folder.path)
        #expect(try await wait(20) { try await nodes.stages[0].metric("node_link_up") == 1 })
        nodes.stages[0].apns.script(token(1), LabAPNs.reply(410, "Unregistered"))
        #expect(nodes.publish(token(1), at: 0) == "cancel")
        for node in 1...2 {
            #expect(try await wait(5) { try await nodes.records(node) == 1 }, "\(nodes.stages[node].log)")
            #expect(nodes.publish(token(1), at: node) == "wait")
            #expect(nodes.stages[node].apns.requests(for: token(1)) == 0)
        }
        // A device that this node knows is asked, whatever others say; its success ends the block everywhere.
        #expect(nodes.publish(token(2), at: 1) == "result")
        nodes.stages[0].apns.script(token(2), LabAPNs.reply(410, "Unregistered"))
        #expect(nodes.publish(token(2), at: 0) == "cancel")
        #expect(try await wait(5) { try await nodes.records(1) == 2 })
        #expect(nodes.publish(token(2), at: 1) == "result")
        #expect(try await wait(5) { nodes.publish(token(2), at: 2) == "result" })

        // Redis hangs: pushes go on.
        nodes.redis.freeze(true)
        for number in 10..<20 { #expect(nodes.publish(token(number), at: number % 3) == "result") }
        nodes.stages[2].apns.script(token(3), LabAPNs.reply(410, "Unregistered"))
        #expect(nodes.publish(token(3), at: 2) == "cancel")
        nodes.redis.freeze(false)
        #expect(try await wait(40) { try await nodes.records(0) == 3 })
        #expect(nodes.publish(token(3), at: 0) == "wait")

        // Emptied: everything is written again.
        try nodes.redis.command("FLUSHALL")
        #expect(try await wait(60) { try nodes.redis.command("XLEN", "{kp}:log:n1").hasPrefix("0") == false })
        nodes.redis.kill()
        #expect(nodes.publish(token(30), at: 0) == "result")
        try nodes.redis.start()
        nodes.stages[1].apns.script(token(4), LabAPNs.reply(410, "Unregistered"))
        #expect(nodes.publish(token(4), at: 1) == "cancel")
        #expect(try await wait(60) { try await nodes.records(2) == 4 })
        #expect(nodes.publish(token(4), at: 2) == "wait")
        for stage in nodes.stages { #expect(stage.terminate() == .exited(0)) }
    }

    private func wait(_ seconds: Double, _ isDone: () async throws -> Bool) async throws -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while true {
            if try await isDone() { return true }
            if Date() > end { return false }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
