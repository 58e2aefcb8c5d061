import Testing

@testable import KalijPush

// What a node writes to its stream and reads from the others', and what a server can do to them.
extension NodeTests {
    @Test("a snapshot replaces what was written before, and a late node has everything")
    func snapshot() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 7)
        world.cut = [[2, 0]]
        for number in 0..<1_200 {
            world.dead.insert("t\(number)")
            world.publish("t\(number)", at: 0)
            if number % 20 == 0 { world.run(for: 2_000) }
        }
        world.run(for: 60_000)
        world.nodes[0].core.sharing?.links[0].own.nextSnapshot = 0
        world.run(for: 5_000)
        let entries = world.servers[0].streams["{kp}:log:n0"]?.entries.count ?? 0
        #expect(entries <= 6, "\(entries)")
        world.cut = []
        world.run(for: 30_000)
        #expect(world.areEqual && world.records(2).count == 1_200)
    }

    @Test("what is proven while a snapshot is written is not trimmed with what was there before")
    func snapshotOnTheWay() throws {
        let world = try NodeWorld(nodes: 3, servers: 1, seed: 9)
        world.cut = [[2, 0]]
        func lose(_ token: String) {
            world.dead.insert(token)
            world.publish(token, at: 0)
        }
        for number in 0..<100 { lose("t\(number)") }
        world.run(for: 60_000)
        world.nodes[0].core.sharing?.links[0].own.nextSnapshot = 0
        // New records are written first; in between the search for the snapshot goes on.
        for number in 0..<20 {
            lose("late\(number)")
            world.run(for: 300)
        }
        world.run(for: 10_000)
        world.cut = []
        world.run(for: 30_000)
        #expect(world.areEqual && world.records(2).count == 120)
    }

    @Test("an entry that is missing: the stream is read from its beginning, once in ten minutes")
    func gap() throws {
        let world = try hostile()
        try world.forge(as: "n1", [world.block("a")])
        world.run(for: 5_000)
        // The server has lost an entry in the middle.
        let lost = UInt64(world.now)
        try world.forge(as: "n1", [world.block("lost")], id: lost)
        let stream = "{kp}:log:n1"
        let entry = world.servers[0].streams[stream]?.entries.popLast()
        world.run(for: 5_000)
        try world.forge(as: "n1", [world.block("b")], previous: lost)
        world.run(for: 5_000)
        #expect(peer(world)?.gaps ?? 0 > 0)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("b"), now: world.now) == .dead)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("lost"), now: world.now) == nil)
        // Found again, before the next gap.
        if let entry { world.servers[0].streams[stream]?.entries.insert(entry, at: 1) }
        try world.forge(as: "n1", [world.block("c")], previous: UInt64(world.now) - 1)
        world.run(for: 60_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("lost"), now: world.now) == nil)
        world.run(for: 600_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("lost"), now: world.now) == .dead)
    }

    @Test("a snapshot that was begun by a process that then died is written again")
    func begun() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 12)
        world.dead = ["gone"]
        world.publish("gone", at: 0)
        world.run(for: 20_000)
        let name = "{kp}:log:n0"
        let before = try #require(world.servers[0].streams[name]?.last)
        world.nodes[0].core.sharing?.links[0].own.nextSnapshot = 0
        while world.servers[0].streams[name]?.last == before { world.run(for: 100) }
        world.kill(0)
        world.run(for: 5_000)
        try world.start(0)
        world.run(for: 20_000)
        #expect(world.nodes[0].core.sharing?.links[0].own.lastSnapshot ?? 0 > before.high + 5_000)
        #expect(world.servers[0].streams[name]?.entries.first?.id.high ?? 0 > before.high + 5_000)
    }

    @Test("each entry names the entry before, so that a missing entry shows; a snapshot's first entry says what it is")
    func chain() throws {
        let world = try NodeWorld(nodes: 2, servers: 1, seed: 10)
        for number in 0..<20 {
            world.dead.insert("t\(number)")
            world.publish("t\(number)", at: 0)
            world.run(for: 1_000)
        }
        let stream = "{kp}:log:n0"
        let keys = try ClusterKeys([world.secret], streams: [stream], longest: 7 * 86_400_000)
        let entries = world.servers[0].streams[stream]?.entries ?? []
        #expect(entries.count >= 10)
        var before: UInt64 = 0
        for entry in entries {
            guard case .plain(let bytes) = keys.open(entry.value, stream: stream, id: entry.id.high) else {
                Issue.record("entry \(entry.id.high) cannot be opened")
                continue
            }
            let content = try #require(SharedEntry(bytes, origin: "n0"))
            // What was before the snapshot is trimmed.
            #expect(before == 0 ? content.isFirst : content.previous == before)
            before = entry.id.high
        }
    }

    @Test("a server with an older stream again: what was skipped for a snapshot that is gone is read")
    func older() throws {
        let world = try hostile()
        try world.forge(as: "n1", [])
        world.run(for: 5_000)
        world.cut = [[0, 0]]
        try world.forge(as: "n1", [world.block("a")])
        let old = world.servers[0].streams
        world.run(for: 1_000)
        world.servers[0].streams["{kp}:log:n1"]?.entries = []
        try world.forge(as: "n1", [], isFirst: true)
        world.cut = []
        world.run(for: 30_000)
        #expect(world.nodes[0].core.blocks.tokens.count == 0)
        world.servers[0].streams = old
        try world.forge(as: "n1", [world.block("b")])
        world.run(for: 10_000)
        #expect(world.nodes[0].core.blocks.tokens.count == 2)
    }

    @Test("a stream that ends before what was read of it is another stream: it is read from its beginning")
    func emptied() throws {
        let world = try hostile()
        try world.forge(as: "n1", [world.block("a")], id: UInt64(world.now) + 3_600_000)
        world.run(for: 5_000)
        world.servers[0].streams["{kp}:log:n1"] = nil
        try world.forge(as: "n1", [world.block("b")])
        world.run(for: 30_000)
        for token in ["a", "b"] {
            #expect(world.nodes[0].core.blocks.tokens.reason(world.key(token), now: world.now) == .dead)
        }
    }

    @Test("numbers that no node writes stop no reading, and the last number of all no node")
    func numbers() throws {
        let world = try hostile()
        func add(_ id: String, to name: String) {
            let words = ["XADD", "{kp}:log:\(name)", id, "e", "x"]
            _ = world.servers[0].execute(words.map { Array($0.utf8) }, time: world.now)
        }
        for low in 1...20 { add("5-\(low)", to: "n1") }
        try world.forge(as: "n1", [world.block("a")])
        world.run(for: 10_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("a"), now: world.now) == .dead)
        for name in ["n0", "n1"] { add("\(UInt64.max)-0", to: name) }
        world.run(for: 30_000)
        world.kill(0)
        try world.start(0)
        world.dead = ["gone"]
        world.publish("gone", at: 0)
        world.run(for: 90_000)
        #expect(world.nodes[0].core.sharing?.links[0].own.isRefused == true)
        // The operator removes the streams.
        for name in ["n0", "n1"] { world.servers[0].streams["{kp}:log:\(name)"] = nil }
        try world.forge(as: "n1", [world.block("b")])
        world.run(for: 90_000)
        #expect(world.nodes[0].core.blocks.tokens.reason(world.key("b"), now: world.now) == .dead)
    }
}
