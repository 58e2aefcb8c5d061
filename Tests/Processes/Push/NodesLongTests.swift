import Foundation
import Glibc
import KalijLab
import KalijNodesLab
import KalijPushLab
import TestSupport
import Testing

/// `Scripts/long push-nodes 10`: half an hour, with figures. The amount is the minutes of the partition.
@Suite(
    "Several nodes: a long partition, kills under load, trouble with Redis, another secret", .serialized,
    .enabled(if: LongForm.runs("push-nodes"), "Scripts/long push-nodes 10: half an hour"))
struct NodesLongTests {
    /// Nodes that end with the body.
    private func withNodes(window: String? = nil, _ body: (LabNodes, Laboratory) async throws -> Void) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let all = try await LabNodes(LabNode.Plan(executable: PushStage.command(), window: window), in: laboratory)
        defer { all.stop() }
        try await body(all, laboratory)
    }

    private func format(_ number: Double?) -> String { number.map { String(format: "%.1f", $0) } ?? "no" }

    /// What each node knows of itself and of the others, for a failure's text.
    private func views(_ all: LabNodes) -> String {
        all.nodes.map { "\($0.name): \($0.figures("node_records") ?? [:]) \($0.log.suffix(500))" }.joined(
            separator: "\n")
    }

    // MARK: Real XMPP servers

    /// A node behind a real XMPP server, and a person there who publishes.
    private final class Place {
        let laboratory: Laboratory
        let server: any XMPPServer
        let stage: PushStage
        /// Has the device.
        let alice: Kalij
        let bob: Kalij

        init(_ name: String, _ kind: ServerKind, _ redis: LabRedis, _ secret: String) async throws {
            laboratory = try Laboratory()
            let port = try freePort()
            server = try await startedServer(kind, in: laboratory, options: ServerOptions(componentPort: port))
            let link: [String: Any] = [
                "host": "127.0.0.1", "port": redis.port, "user": name, "passwordFile": redis.passwordFile,
            ]
            let nodes: [String: Any] = [
                "name": name, "others": ["n1", "n2", "n3"], "secretFile": secret, "redis": [link],
            ]
            stage = try PushStage(folder: laboratory.path("node"), port: port, more: ["nodes": nodes], window: nil)
            try stage.start()
            alice = try Kalij(data: laboratory.path("alice"))
            bob = try Kalij(data: laboratory.path("bob"))
            #expect(try alice.login(server, as: "alice@localhost").status == 0)
            #expect(try bob.login(server, as: "bob@localhost").status == 0)
        }

        /// The server pushes, because bob writes to alice, who is away.
        /// - Returns: the outcome that the node has counted.
        func message(_ token: String) async throws -> String {
            let before = try await outcomes()
            let enabled = try alice("push", "enable", "push.localhost", token, "--module", "apple", "--wait")
            #expect(enabled.status == 0, "\(enabled)")
            // ejabberd may push before: as soon as a connection is lost with something unacknowledged.
            #expect(try bob("send", "alice@localhost", "hello", "--confirm").status == 0)
            var outcome: String?
            _ = try await until(every: 100) {
                outcome = try await outcomes().first { $0.value > before[$0.key] ?? 0 }?.key
                return outcome != nil
            }
            return outcome ?? "nothing"
        }

        private func outcomes() async throws -> [String: Int] {
            var counts: [String: Int] = [:]
            for name in ["delivered", "dead", "blocked", "hearsay"] {
                counts[name] = try await stage.metric("pushes_total", "outcome=\"\(name)\"")
            }
            return counts
        }
    }

    @Test("behind Prosody, ejabberd and Prosody: dead on one, known on all, and asked on one alone")
    func servers() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let redis = try LabRedis(laboratory, nodes: ["n1", "n2", "n3"])
        try await redis.start()
        let secret = laboratory.path("cluster-secret")
        try String(repeating: "s", count: 48).write(toFile: secret, atomically: true, encoding: .utf8)
        var places: [Place] = []
        defer { for place in places { place.laboratory.close() } }
        for (name, kind) in [("n1", ServerKind.prosody), ("n2", .ejabberd), ("n3", .prosody)] {
            places.append(try await Place(name, kind, redis, secret))
        }
        for place in places {
            #expect(await until { place.stage.log.contains("connected to Redis") }, "\(place.stage.log)")
        }
        for (number, place) in places.enumerated() {
            let token = NodesLoad.token("dead", number)
            place.stage.apns.script(token, LabAPNs.reply(410, "Unregistered"))
            #expect(try await place.message(NodesLoad.token("live", number)) == "delivered")
            #expect(try await place.message(token) == "dead")
            let began = Date()
            for other in places where other !== place {
                #expect(try await until(every: 50) { try await other.stage.metric("node_records") > number })
                let seconds = Date().timeIntervalSince(began)
                print("dead at node \(number + 1) (\(place.server.kind)), known after \(format(seconds)) s")
            }
            for other in places where other !== place {
                let outcome = try await other.message(token)
                #expect(outcome == "hearsay", "\(other.server.kind), of node \(number + 1): \(other.stage.log)")
                #expect(other.stage.apns.requests(for: token) == 0)
            }
        }
        for place in places { #expect(place.stage.terminate() == .exited(0)) }
    }

    // MARK: A partition

    /// A few devices each: many dead devices of one domain would block the domain.
    private func publish(_ token: String, _ number: Int, at node: LabNode) -> String {
        node.server.publish(token, domain: "server\(number / 5).example")
    }

    /// Publishes about devices, and expects an answer of each.
    private func all(_ tokens: [String], at node: LabNode, answer: String, dying: Bool = false) {
        if dying { for token in tokens { node.bury(token) } }
        let ids = tokens.enumerated().map { publish($1, $0, at: node) }
        let given = ids.compactMap { node.server.wait(for: $0)?.type }
        #expect(given.allSatisfy { $0 == answer } && given.count == tokens.count, "\(node.name): not all \(answer)")
    }

    @Test("a partition with 1,000 blocks and 100 unblocks a side: equal after")
    func partition() async throws {
        try await withNodes { all, _ in
            let nodes = all.nodes
            // Each side knows devices of which the other says that they are gone. Some are: else the liar is excluded.
            let sides = [(teller: nodes[2], asker: nodes[0]), (teller: nodes[1], asker: nodes[2])]
            let alive = sides.map { side in (0..<100).map { NodesLoad.token("alive\(side.asker.name)", $0) } }
            let gone = sides.map { side in (0..<100).map { NodesLoad.token("gone\(side.asker.name)", $0) } }
            for (index, side) in sides.enumerated() {
                self.all(alive[index] + gone[index], at: side.asker, answer: "result")
                self.all(alive[index] + gone[index], at: side.teller, answer: "cancel", dying: true)
            }
            #expect(await until { all.areEqual && nodes[0].records == 400 }, "\(views(all))")

            nodes[2].line.silence(true)
            for (index, side) in sides.enumerated() {
                self.all(gone[index], at: side.asker, answer: "cancel", dying: true)
                self.all(alive[index], at: side.asker, answer: "result")
            }
            let minutes = Double(LongForm.amount("push-nodes", short: 10))
            let (answers, slowest) = try await die(minutes * 60, nodes)
            #expect(answers.keys.sorted() == ["cancel", "result"], "\(answers)")
            #expect(!all.areEqual)

            nodes[2].line.silence(false)
            let seconds = await waits { all.areEqual }
            #expect(seconds != nil, "\(views(all))")
            let records = nodes.map { $0.records ?? 0 }
            #expect(records.allSatisfy { $0 == 2400 }, "\(records)")
            for node in nodes { self.all(alive[0] + alive[1], at: node, answer: "result") }
            self.all((0..<20).map { NodesLoad.token("first", $0) }, at: nodes[2], answer: "wait")
            self.all((0..<20).map { NodesLoad.token("second", $0) }, at: nodes[0], answer: "wait")
            print(
                "partition of \(minutes) min: equal \(format(seconds)) s after; records \(records); answers \(answers), "
                    + "slowest \(Int(slowest * 1000)) ms")
        }
    }

    /// 1,000 devices die on each side, spread over the time, and pushes go on.
    private func die(_ seconds: Double, _ nodes: [LabNode]) async throws -> (types: [String: Int], slowest: Double) {
        let began = Date()
        for number in 0..<1000 {
            for (name, node) in [("first", nodes[number % 2]), ("second", nodes[2])] {
                let token = NodesLoad.token(name, number)
                node.bury(token)
                _ = publish(token, number, at: node)
            }
            for node in nodes { node.server.publish(NodesLoad.token("live\(node.name)", number % 50)) }
            let rest = began.addingTimeInterval(seconds * Double(number + 1) / 1000).timeIntervalSinceNow
            if rest > 0 { try await sleep(for: .seconds(rest)) }
        }
        var types: [String: Int] = [:]
        var slowest = 0.0
        for node in nodes {
            #expect(node.server.wait { node.server.unanswered == 0 })
            for answer in node.server.takeAnswers() {
                types[answer.type, default: 0] += 1
                slowest = max(slowest, answer.seconds)
            }
        }
        return (types, slowest)
    }

    // MARK: Kills

    @Test("SIGKILL under load: the others are untouched, no push goes out a third time")
    func kills() async throws {
        try await withNodes(window: "1s") { all, _ in
            let nodes = all.nodes
            let rate = LongForm.choice("rate").flatMap { Double($0) } ?? 1000
            let seconds = 60.0
            let load = Task.detached { Self.publishOnce(nodes, rate: rate, seconds: seconds) }
            var kills = 0
            for _ in 0..<5 {
                try await sleep(for: .seconds(Double.random(in: 7...9)))
                nodes[0].end(SIGKILL)
                try await sleep(for: .seconds(1))
                try nodes[0].start()
                kills += 1
            }
            let (tokens, twice, sent) = await load.value
            for node in nodes[1...] { node.server.wait { node.server.unanswered == 0 } }
            // What was queued goes out.
            for node in nodes { #expect(await until { node.figures("queued")?[""] == 0 }, "\(node.name)") }
            let types = nodes.map { node in
                Dictionary(grouping: node.server.takeAnswers(), by: \.type).mapValues(\.count)
            }
            let times = nodes.map { node in tokens.map { node.apns.requests(for: $0) } }
            let most = zip(tokens.indices, twice).map { index, isTwice in
                (times.map { $0[index] }.max() ?? 0) - (isTwice ? 1 : 0)
            }
            print(
                "\(kills) kills at \(Int(Double(sent) / seconds)) publishes/s: answers \(types); unanswered at the others "
                    + "\(nodes[1...].map(\.server.unanswered)); pushes that went out twice: \(most.count { $0 == 2 })")
            for index in 1...2 {
                #expect(types[index].keys.sorted() == ["result"], "\(types[index])")
                #expect(nodes[index].server.unanswered == 0)
            }
            #expect(most.allSatisfy { $0 <= 2 })
        }
    }

    /// Publishes to a new device each time, to every tenth one twice: the second push waits.
    private static func publishOnce(
        _ nodes: [LabNode], rate: Double, seconds: Double
    ) -> (tokens: [String], twice: [Bool], sent: Int) {
        let began = Date()
        var (tokens, twice, sent): ([String], [Bool], Int) = ([], [], 0)
        while -began.timeIntervalSinceNow < seconds {
            let due = Int(-began.timeIntervalSinceNow * rate)
            while sent < due {
                let node = nodes[sent % nodes.count]
                sent += 1
                guard node.server.isReady else { continue }
                let (token, domain) = (NodesLoad.token("once", sent), "server\(sent % 50).example")
                node.server.publish(token, domain: domain)
                if sent % 10 == 0 { node.server.publish(token, domain: domain) }
                tokens.append(token)
                twice.append(sent % 10 == 0)
            }
            // Until the next publishes are due.
            usleep(1_000)
        }
        return (tokens, twice, sent)
    }

    // MARK: Redis

    enum Trouble: String, CaseIterable {
        case stopped = "stopped for 60 s"
        case empty = "started empty"
        case flushed = "FLUSHALL"
        case slow = "500 ms away"
        case full = "full"

        var seconds: Double { self == .stopped ? 60 : 15 }
    }

    private func begin(_ trouble: Trouble, _ all: LabNodes) async throws {
        switch trouble {
        case .stopped: all.redis.freeze(true)
        case .empty:
            await all.redis.kill()
            try await all.redis.start()
        case .flushed: try await all.redis.command("FLUSHALL")
        case .slow: for node in all.nodes { node.line.delay(seconds: 0.25) }
        case .full: try await all.redis.command("CONFIG", "SET", "maxmemory", "1")
        }
    }

    private func end(_ trouble: Trouble, _ all: LabNodes) async throws {
        switch trouble {
        case .stopped: all.redis.freeze(false)
        case .empty, .flushed: break
        case .slow: for node in all.nodes { node.line.delay(seconds: 0) }
        case .full: try await all.redis.command("CONFIG", "SET", "maxmemory", "0")
        }
    }

    @Test(
        "trouble with Redis: publishes are answered as without, and then the nodes agree",
        arguments: Trouble.allCases)
    func redis(_ trouble: Trouble) async throws {
        try await withNodes { all, _ in
            let load = NodesLoad(all.nodes, rate: 300)
            // Every device has had a push, and all connections stand.
            _ = load.run(seconds: 5)
            load.dying = 150
            var (calm, troubled) = (NodesLoad.Result(), NodesLoad.Result())
            var equal: [String] = []
            for _ in 0..<2 {
                calm += load.run(seconds: trouble.seconds)
                try await begin(trouble, all)
                troubled += load.run(seconds: trouble.seconds)
                try await end(trouble, all)
                let seconds = await waits { all.areEqual && all.nodes[0].records == load.dead.count }
                #expect(seconds != nil, "\(views(all))")
                equal.append(format(seconds))
            }
            print(
                "Redis \(trouble.rawValue)\n  calm: \(calm.text)\n  then: \(troubled.text)\n  p99 differs by "
                    + "\(format(troubled.share(0.99) - calm.share(0.99))) ms; equal \(equal) s after")
            #expect(troubled.waits <= calm.waits)
            #expect(troubled.unanswered == 0)
        }
    }

    // MARK: Another secret

    @Test(
        "the cluster secret is replaced under load: no live device is blocked, and none that is dead is asked for again"
    )
    func rotation() async throws {
        try await withNodes { all, _ in
            let load = NodesLoad(all.nodes, rate: 200)
            load.dying = 50
            var result = load.run(seconds: 10)
            #expect(result.types.keys.sorted() == ["cancel", "result"], "\(result.types)")
            for secrets in [["cluster-secret", "new-secret"], ["new-secret", "cluster-secret"], ["new-secret"]] {
                for node in all.nodes {
                    try node.configure(secrets: secrets)
                    node.end(SIGTERM)
                    try node.start()
                    result += load.run(seconds: 3)
                }
                #expect(await until { all.areEqual }, "\(views(all))")
                guard secrets.count == 2 else { continue }
                for gone in load.dead {
                    for node in all.nodes {
                        let answer = node.ask(gone.token, domain: gone.domain)
                        #expect(
                            answer == "cancel" || answer == "wait",
                            "\(gone.token) at \(node.name): \(answer ?? "nothing")")
                    }
                    #expect(all.nodes.map { $0.apns.requests(for: gone.token) }.reduce(0, +) == 1)
                }
                for node in all.nodes { node.server.forgetAnswers() }
            }
            #expect(result.types.keys.sorted() == ["cancel", "result"], "\(result.types)")
            #expect(result.types["cancel"] == load.dead.count)
            #expect(result.unanswered == 0)
            print("rotation: \(result.text)")
        }
    }
}
