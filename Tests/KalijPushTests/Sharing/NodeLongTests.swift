import Foundation
import TestSupport
import Testing

@testable import KalijPush

/// Many records and many tokens; a part of `Scripts/long push-nodes`, because they take their time.
@Suite(
    "Nodes with a million records",
    .enabled(if: LongForm.runs("simulate-nodes"), "Scripts/long simulate-nodes"))
struct NodeLongTests {
    @Test("a node with all rights that lies a million times: no push is lost, nobody cancels, and the node is named")
    func lies() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 1, tokens: 1_500_000)
        world.kill(1)
        world.run(for: 5_000)
        let live = (0..<2_000).map { "live\($0)" }
        for token in live { world.publish(token, at: 0) }
        for token in live.prefix(200) { world.publish(token, at: 2) }
        world.run(for: 5_000)
        try world.forge(as: "n1", live.map { world.block($0) })
        try world.forge(as: "n1", (0..<20_000).map { world.block("young\($0)") })
        try world.forge(as: "n1", (0..<1_500).map { world.block("early\($0)", age: -3_600_000) })
        for part in 0..<100 {
            try world.forge(as: "n1", (0..<10_000).map { world.block("old\(part * 10_000 + $0)", age: 3_600_000) })
        }
        // Entries once more, under other numbers.
        let stream = "{kp}:log:n1"
        for entry in (world.servers[0].streams[stream]?.entries ?? []).prefix(100) {
            let last = world.servers[0].streams[stream]?.last?.high ?? 0
            let words = ["XADD", stream, EntryID.text(last + 1), "e"]
            _ = world.servers[0].execute(words.map { Array($0.utf8) } + [entry.value], time: world.now)
        }
        world.run(for: 180_000)
        let peer = try #require(world.nodes[0].core.sharing?.peers[1])
        #expect(world.nodes[0].core.blocks.tokens.shares[1].count == 1_000_000)
        #expect(peer.refused[.budget] ?? 0 > 0 && peer.refused[.share] ?? 0 > 0)
        #expect(peer.refused[.seal] == 100 && peer.early.count == Sharing.maxEarly)

        let before = world.nodes[0].core.counters.modules["m"]?.delivered ?? 0
        for token in live { world.publish(token, at: 0) }
        #expect(world.nodes[0].core.counters.modules["m"]?.delivered == before + 2_000)
        for token in live.prefix(200) { world.publish(token, at: 2) }
        #expect(world.violations.isEmpty)
        for index in [0, 2] {
            let origins = world.nodes[index].core.blocks.origins
            let liar = try #require(origins.number(of: "n1"))
            let strikes = world.nodes[index].core.sharing?.peers[liar]?.struck ?? 0
            #expect(origins.standing(liar) == .excluded, "n\(index): \(strikes) strikes")
            #expect(world.nodes[index].core.blocks.tokens.reason(world.key("old7"), now: world.now) == nil)
            for _ in 0..<1_000 { _ = world.nodes[index].core.cleanUp(now: world.now) }
            #expect(world.nodes[index].core.blocks.tokens.shares[liar].count == 0)
        }
    }

    @Test(
        "a domain of 10,000 tokens, one in fifty dead, moves to another node: every live token is pushed, none dead asked"
    )
    func move() throws {
        let world = try NodeWorld(nodes: 3, servers: 2, seed: 2)
        world.run(for: 10_000)
        let tokens = (0..<10_000).map { "token-\($0)" }
        for number in stride(from: 0, to: tokens.count, by: 50) { world.dead.insert(tokens[number]) }
        for token in tokens { world.publish(token, at: 0) }
        world.run(for: 5_000)
        #expect(world.nodes[0].proven.count == 200)
        for token in tokens { world.publish(token, at: 2) }
        #expect(world.nodes[2].core.counters.modules["m"]?.delivered == 9_800)
        #expect(world.nodes[2].core.counters.modules["m"]?.hearsay == 200)
        #expect(world.nodes[2].proven.isEmpty && world.violations.isEmpty)
        // Neither a token nor a hash is there to be read.
        let kept = world.servers.flatMap { $0.streams.values.flatMap { $0.entries.map { Data($0.value) } } }
        #expect(!kept.isEmpty)
        for token in world.dead {
            for secret in [Data(token.utf8), Data(world.key(token).bytes), Data(world.key(token).bytes.prefix(8))] {
                #expect(!kept.contains { $0.range(of: secret) != nil })
            }
        }
    }
}
