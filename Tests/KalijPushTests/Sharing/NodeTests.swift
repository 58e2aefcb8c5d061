import Testing

@testable import KalijPush

@Suite("Nodes that share their blocks")
struct NodeTests {
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

    @Test("a gone endpoint is blocked on all nodes, independent of the keys of the subscription")
    func endpoints() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 1, endpoints: true)
        world.run(for: 10_000)
        world.dead = ["gone"]
        for _ in 0..<4 { world.publish("gone", at: 0) }
        #expect(world.nodes[0].core.counters.modules["m"]?.dead == 1)
        #expect(world.nodes[0].core.counters.modules["m"]?.blocked == 3)
        world.run(for: 5_000)
        #expect(world.nodes[1].core.blocks.tokens.reason(world.key("gone"), now: world.now) == .dead)
        for _ in 0..<4 { world.publish("gone", at: 1) }
        #expect(world.nodes[1].proven.isEmpty)
        #expect(world.nodes[1].core.counters.modules["m"]?.hearsay == 4)
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

    /// A world in which `n1` is nobody but the test.
    func hostile(limit: Int = 100_000) throws -> NodeWorld {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 3, tokens: limit)
        world.kill(1)
        world.run(for: 5_000)
        return world
    }

    func peer(_ world: NodeWorld) -> Sharing.Peer? { world.nodes[0].core.sharing?.peers[1] }

    @Test("a version that is ahead waits until its time has come; more than 1,000 do not wait")
    func early() throws {
        let world = try hostile()
        try world.forge(as: "n1", (0..<1_500).map { world.block("t\($0)", age: -600_000) })
        world.run(for: 5_000)
        #expect(peer(world)?.early.count == 1_000 && peer(world)?.refused[.ahead] == 500)
        #expect(world.nodes[0].core.blocks.tokens.count == 0)
        // A process that ends meanwhile reads them again.
        #expect(world.nodes[0].disk.positions["r0:1 n1"]?.entry ?? 0 == 0)
        world.run(for: 545_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("t1"), now: world.now) == .dead)
        #expect(world.nodes[0].disk.positions["r0:1 n1"]?.entry ?? 0 > 0)
    }

    @Test("a node whose clock is wrong only listens, and shares what it has when the clock is right")
    func clock() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 4)
        world.run(for: 10_000)
        world.nodes[0].skew = -300_000
        world.run(for: 5_000)
        #expect(world.nodes[0].core.sharing?.isClockWrong == true)
        world.dead = ["gone"]
        world.publish("gone", at: 0)
        world.run(for: 20_000)
        #expect(world.nodes[1].core.blocks.tokens.count == 0)
        world.nodes[0].skew = 0
        world.run(for: 20_000)
        #expect(world.nodes[1].core.blocks.tokens.count == 1)
    }

    @Test("a flood: no more than the budget of young records, and no more than the node's part of the table")
    func flood() throws {
        let world = try hostile(limit: 30_000)
        try world.forge(as: "n1", (0..<20_000).map { world.block("young\($0)") })
        world.run(for: 30_000)
        let young = world.nodes[0].core.blocks.tokens.count
        #expect(young == 13_200)
        #expect(peer(world)?.refused[.budget] ?? 0 >= 6_800)
        try world.forge(as: "n1", (0..<30_000).map { world.block("old\($0)", age: 3_600_000) })
        world.run(for: 30_000)
        #expect(world.nodes[0].core.blocks.tokens.count == 20_000)
        #expect(peer(world)?.refused[.share] ?? 0 > 0)
        // Others still find room.
        world.dead = ["gone"]
        world.publish("gone", at: 2)
        world.run(for: 5_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("gone"), now: world.now) == .dead)
    }

    @Test("an honest node is never cut: 9,000 dead tokens at once come little by little, and all of them")
    func storm() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 5)
        world.run(for: 10_000)
        for number in 0..<9_000 {
            world.dead.insert("t\(number)")
            world.publish("t\(number)", at: 0)
        }
        world.run(for: 60_000)
        let soon = world.nodes[1].core.blocks.tokens.count
        #expect(500...2_000 ~= soon, "\(soon)")
        world.run(for: 1_200_000)
        #expect(world.areEqual && world.records(1).count == 9_000)
        #expect(world.nodes[1].core.sharing?.peers[1]?.refused.isEmpty == true)
        // A record alone has 33 bytes; each entry has 60 of its own, and there is a sign of life each minute.
        #expect(world.nodes[0].bytes / 9_000 <= 112, "\(world.nodes[0].bytes)")
    }

    @Test("old records are free: a node that was alone for long shares all of its 40,000 without a pause")
    func many() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 11, tokens: 120_000)
        world.kill(0)
        var disk = NodeWorld.Disk()
        for number in 0..<40_000 {
            let block = world.block("old\(number)", age: 3_600_000)
            disk.blocks[block.key] = block
        }
        try world.start(0, disk: disk)
        world.run(for: 100_000)
        #expect(world.nodes[1].core.blocks.tokens.count == 40_000)
    }

    @Test("a part of the tables with more records than an entry has is shared without a pause")
    func largePart() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 12)
        // The stream has a snapshot: what it lacks is searched for.
        world.run(for: 10_000)
        world.kill(0)
        var disk = world.nodes[0].disk
        for number in 0..<2_000 {
            let key = HashedKey(high: 7, low: UInt64(number))
            disk.blocks[key] = BlockChange(
                key: key, version: BlockChange.version(at: world.now - 3_600_000), expires: world.now + 86_400_000,
                reason: .dead)
        }
        try world.start(0, disk: disk)
        world.run(for: 30_000)
        #expect(world.nodes[1].core.blocks.tokens.count == 2_000)
    }

    @Test(
        "blocks of live tokens: nothing is lost, the node is excluded with all its records, and comes back only by hand"
    )
    func lies() throws {
        let world = try hostile()
        for number in 0..<50 { world.publish("live\(number)", at: 0) }
        world.run(for: 2_000)
        try world.forge(as: "n1", (0..<50).map { world.block("live\($0)") } + [world.block("stranger")])
        world.run(for: 5_000)
        #expect(world.nodes[0].core.blocks.tokens.count == 51)
        for number in 0..<50 { world.publish("live\(number)", at: 0) }
        #expect(world.nodes[0].core.counters.modules["m"]?.delivered == 100)
        #expect(world.violations.isEmpty)
        world.run(for: 1_000)
        #expect(world.nodes[0].core.blocks.origins.standing(1) == .excluded)
        world.publish("stranger", at: 0)
        #expect(world.nodes[0].core.counters.modules["m"]?.delivered == 101)
        try world.forge(as: "n1", [world.block("another")])
        world.run(for: 5_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("another"), now: world.now) == nil)
        // Out of the configuration and in again: from the beginning.
        guard var settings = world.nodes[0].core.settings.nodes else { return }
        settings.others = ["n2"]
        _ = world.nodes[0].core.nodes(.configured(settings), now: world.now)
        settings.others = ["n1", "n2"]
        _ = world.nodes[0].core.nodes(.configured(settings), now: world.now)
        world.run(for: 5_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("another"), now: world.now) == .dead)
    }

    @Test("forged, damaged, foreign and moved entries are refused and counted, and stop nothing")
    func forged() throws {
        let world = try hostile()
        let stream = "{kp}:log:n1"
        try world.forge(as: "n1", [world.block("a")])
        let value = world.servers[0].streams[stream]?.entries.first?.value ?? []
        func add(_ bytes: [UInt8], to stream: String = stream) {
            let last = world.servers[0].streams[stream]?.last?.high ?? 0
            let words = ["XADD", stream, EntryID.text(max(last + 1, UInt64(world.now))), "e"]
            _ = world.servers[0].execute(words.map { Array($0.utf8) } + [bytes], time: world.now)
        }
        add([])
        add(Array("garbage".utf8))
        add(value)
        add(value.dropLast() + [value.last ?? 0 ^ 1])
        add([1, 0, 0, 0, 0] + value.dropFirst(5))
        add(value, to: "{kp}:log:n2")
        var odd = world.block("b")
        odd.expires = .max
        try world.forge(as: "n1", [odd, world.block("c", age: 8 * 86_400_000, for: 100 * 86_400_000)])
        world.run(for: 10_000)
        #expect(peer(world)?.refused[.seal] == 4 && peer(world)?.refused[.secret] == 1)
        #expect(peer(world)?.refused[.ended] == 1 && peer(world)?.gaps == 0)
        let blocks = world.nodes[0].core.blocks.tokens
        #expect(blocks.reason(world.key("a"), now: world.now) == .dead)
        #expect(blocks.expiry(world.key("b"), now: world.now) ?? .max <= world.now + 7 * 86_400_000)
    }

    @Test("the server shows no token, no domain and no hash")
    func sealed() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 6)
        world.run(for: 10_000)
        world.dead = ["a-token-that-is-gone"]
        world.publish("a-token-that-is-gone", at: 0)
        world.run(for: 5_000)
        let kept = world.servers[0].streams.values.flatMap { $0.entries.flatMap(\.value) }
        #expect(kept.count > 100)
        for secret in [Array("gone".utf8), Array("example".utf8), world.key("a-token-that-is-gone").bytes] {
            #expect(!kept.indices.contains { kept[$0...].starts(with: secret) })
        }
    }

    @Test("another node's word about a domain counts for an hour, and not against what is seen here")
    func domains() throws {
        let hour: Milliseconds = 3_600_000
        let domain = HashedKey(high: 1, low: 1)
        var tables = BlockTables(try Drill().core.settings)
        tables.domains.isShared = true
        _ = tables.domains.origins.configure("n0", ["n1"])
        tables.merge(
            BlockChange(
                key: domain, version: BlockChange.version(at: hour), expires: 24 * hour, reason: .mistakes, origin: "n1"
            ), now: hour)
        func isBlocked(_ isTrusted: Bool, at now: Milliseconds) -> Bool {
            tables.isBlocked(domain: [domain], isTrusted: isTrusted, now: now)
        }
        #expect(isBlocked(false, at: hour) && isBlocked(false, at: 2 * hour - 1))
        #expect(!isBlocked(false, at: 2 * hour) && !isBlocked(true, at: hour))
        _ = tables.block(domain: domain, for: 3 * hour, now: 2 * hour)
        #expect(isBlocked(true, at: 2 * hour) && isBlocked(true, at: 4 * hour))
    }

    @Test(
        "the secret is replaced node by node: everything stays known, and the dropped secret's entries are no forgery")
    func rotation() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 8)
        let new = try ClusterSecret([UInt8](repeating: 9, count: 32))
        world.run(for: 10_000)
        var number = 0
        func restart(_ secrets: [ClusterSecret]) throws {
            for index in world.nodes.indices {
                world.secrets[world.nodes[index].name] = secrets
                world.kill(index)
                try world.start(index)
                world.run(for: 20_000)
                for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                    number += 1
                    let (gone, moved) = ("gone\(number)", "moved\(number)")
                    world.publish(moved, at: to)
                    world.run(for: 2_000)
                    world.dead = [gone, moved]
                    world.publish(gone, at: from)
                    world.publish(moved, at: from)
                    world.run(for: 6_000)
                    world.dead = []
                    let before = world.nodes[to].core.counters.modules["m"]?.hearsay ?? 0
                    world.publish(gone, at: to)
                    #expect(world.nodes[to].core.counters.modules["m"]?.hearsay == before + 1, "\(number)")
                    world.publish(moved, at: to)
                    world.run(for: 6_000)
                    let delivered = world.nodes[from].core.counters.modules["m"]?.delivered ?? 0
                    world.publish(moved, at: from)
                    #expect(world.nodes[from].core.counters.modules["m"]?.delivered == delivered + 1, "\(number)")
                }
            }
        }
        try restart([world.secret, new])
        try restart([new, world.secret])
        try restart([new])
        world.run(for: 60_000)
        for node in world.nodes {
            let refused = (node.core.sharing?.peers.values).map { $0.reduce(0) { $0 + ($1.refused[.seal] ?? 0) } }
            #expect(refused == 0)
        }
        #expect(world.violations.isEmpty)
    }

    @Test("a record that has ended covers an older record that would last longer, whenever that comes")
    func covered() throws {
        let day: Milliseconds = 86_400_000
        let long = BlockChange(
            key: HashedKey(high: 1, low: 1), version: BlockChange.version(at: 1_000), expires: 5 * day, reason: .dead,
            origin: "n1")
        let short = BlockChange(
            key: long.key, version: BlockChange.version(at: 2_000), expires: day, reason: .dead, origin: "n2")
        for order in [[long, short], [short, long]] {
            var list = TokenBlocklist(limit: 10, longest: 7 * day)
            list.isShared = true
            _ = list.origins.configure("n0", ["n1", "n2"])
            list.merge(order[0], now: 2 * day)
            while !list.cleanUp(3 * day) {}
            list.merge(order[1], now: 3 * day)
            #expect(list.reason(long.key, now: 3 * day) == nil)
            #expect(list.count == 1)
            while !list.cleanUp(8 * day) {}
            #expect(list.count == 0)
        }
    }

    @Test("the same version of two nodes: the greater name wins, in any order")
    func tie() {
        let one = BlockChange(
            key: HashedKey(high: 1, low: 1), version: 9 << 16, expires: 50_000, reason: .dead, origin: "n1")
        var other = one
        other.origin = "n2"
        other.expires = 40_000
        for order in [[one, other], [other, one]] {
            var list = TokenBlocklist(limit: 10)
            _ = list.origins.configure("n0", ["n2", "n1"])
            for record in order { list.merge(record, now: 10) }
            #expect(list.expiry(one.key, now: 10) == 40_000)
        }
    }
}
