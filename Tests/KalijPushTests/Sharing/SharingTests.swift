import Testing

@testable import KalijPush

@Suite("Nodes that share their blocks")
struct SharingTests {
    @Test(
        "what one node has proven all know within 5 s; no other node cancels, none asks, and a success ends the block")
    func known() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 1)
        world.run(for: 10_000)
        world.dead = ["gone"]
        world.publish("gone", at: 0)
        world.run(for: 5_000)
        let key = world.nodes[0].core.keyring.present.key(token: "gone", module: "m")
        for index in 1...2 {
            #expect(world.nodes[index].core.blocks.tokens.reason(key, now: world.now) == .dead)
            world.publish("gone", at: index)
            #expect(world.nodes[index].proven.isEmpty)
            #expect(world.nodes[index].core.counters.modules["m"]?.hearsay == 1)
        }
        world.run(for: 1_000)
        #expect(world.violations.isEmpty && world.areEqual)
        #expect(world.records(0).count == 1)
    }

    @Test(
        "hearsay about a token with a success here stops nothing: the push is the question, and its success an unblock")
    func question() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 2)
        world.run(for: 10_000)
        world.publish("moved", at: 1)
        world.run(for: 2_000)
        world.dead = ["moved"]
        world.publish("moved", at: 0)
        world.run(for: 5_000)
        world.dead = []
        world.publish("moved", at: 1)
        #expect(world.nodes[1].core.counters.modules["m"]?.delivered == 2)
        #expect(world.nodes[1].core.sharing?.peers[1]?.struck == 1)
        world.run(for: 5_000)
        let key = world.nodes[0].core.keyring.present.key(token: "moved", module: "m")
        for node in world.nodes { #expect(node.core.blocks.tokens.reason(key, now: world.now) == nil) }
        #expect(world.areEqual)
    }
}
