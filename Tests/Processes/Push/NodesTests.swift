import KalijLab
import KalijNodesLab
import Testing

@Suite("Several nodes share what is proven, through a real Redis", .serialized)
struct NodesTests {
    private func token(_ number: Int) -> String { String(repeating: "d", count: 56) + String(10_000_000 + number) }

    @Test("dead on one, known on all, cancelled on one; then Redis hangs, is emptied, and is killed")
    func share() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let all = try await LabNodes(LabNode.Plan(executable: PushStage.command()), in: laboratory)
        defer { all.stop() }
        let (nodes, redis) = (all.nodes, all.redis)
        nodes[0].bury(token(1))
        #expect(nodes[0].ask(token(1)) == "cancel")
        for node in nodes[1...] {
            #expect(await until { node.records == 1 }, "\(node.log)")
            #expect(node.ask(token(1)) == "wait")
            #expect(node.apns.requests(for: token(1)) == 0)
        }
        // A device that this node knows is asked, whatever others say; its success ends the block everywhere.
        #expect(nodes[1].ask(token(2)) == "result")
        nodes[0].bury(token(2))
        #expect(nodes[0].ask(token(2)) == "cancel")
        #expect(await until { nodes[1].records == 2 })
        #expect(nodes[1].ask(token(2)) == "result")
        #expect(await until { nodes[2].ask(token(2)) == "result" })

        // Redis hangs: pushes go on.
        redis.freeze(true)
        for number in 10..<20 { #expect(nodes[number % 3].ask(token(number)) == "result") }
        nodes[2].bury(token(3))
        #expect(nodes[2].ask(token(3)) == "cancel")
        redis.freeze(false)
        #expect(await until { nodes[0].records == 3 })
        #expect(nodes[0].ask(token(3)) == "wait")

        // Emptied: everything is written again.
        try await redis.command("FLUSHALL")
        #expect(try await until(every: 100) { try await redis.entries(of: "n1") > 0 })
        await redis.kill()
        #expect(nodes[0].ask(token(30)) == "result")
        try await redis.start()
        nodes[1].bury(token(4))
        #expect(nodes[1].ask(token(4)) == "cancel")
        #expect(await until { nodes[2].records == 4 })
        #expect(nodes[2].ask(token(4)) == "wait")
        for node in nodes { #expect(node.end(15) == .exited(0)) }
    }
}
