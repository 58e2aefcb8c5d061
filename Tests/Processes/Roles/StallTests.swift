import Foundation
import KalijLab
import Testing

/// "The budget is never exceeded (tests with a server that stalls at every point)."
@Suite(.serialized) struct StallTests {
    /// Where the server falls silent; see `Tests/Programs/stalling.py`.
    enum Point: String, CaseIterable, Sendable {
        case greeting, features, proceed, handshake, mechanisms, challenge, success
        case sessionFeatures = "session-features"
        case resumed, bound, enabled, page, stanza, acknowledgement

        /// Whether the point only comes after a bind.
        var needsNewSession: Bool { [.bound, .enabled, .page].contains(self) }
    }

    @Test("wherever the server stalls, `wake` ends within its budget, lets go, and the next `wake` gets everything")
    func everywhere() async throws {
        let world = try await World()
        defer { world.close() }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/stalling.py").path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for point in Point.allCases { group.addTask { try await Self.stall(at: point, world, source) } }
            try await group.waitForAll()
        }
    }

    private static func stall(at point: Point, _ world: World, _ program: String) async throws {
        let account = try await Account(point, world)
        let port = try freePort()
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [
                program, "--port", "\(port)", "--cert", world.server.certificateAuthority, "--key",
                world.server.certificateAuthority.replacingOccurrences(of: ".crt", with: ".key"), "--server",
                "\(world.server.directTLSPort)", point.rawValue,
            ])
        let output = world.laboratory.path("stalling-\(point)")
        (launch.output, launch.errors) = (.file(output), .file(output + ".err"))
        let between = try Subprocess(launch)
        #expect(await until { readAll(output).contains("ready") })
        try await account.sql("UPDATE account SET server = '127.0.0.1:\(port)'")
        if point.needsNewSession { try await account.sql("UPDATE session SET resume_id = NULL") }

        // The least possible budget; on a busy machine the end of a small budget comes before the point.
        var (budget, shown) = (5, Set<Int>())
        while true {
            shown.formUnion(try await ended(account, at: point, budget))
            let isThere = point == .acknowledgement ? shown.count == 3 : readAll(output).contains("stalled")
            guard !isThere, budget < 600 else { break }
            if point.needsNewSession { try await account.sql("UPDATE session SET resume_id = NULL") }
            budget *= 3
        }
        #expect(budget < 600, "\(point) does not come: \(readAll(output + ".err"))")
        #expect(try await account.sql("SELECT let_go FROM fence") == "1\n", "\(point)")
        #expect(try await account.sql("PRAGMA integrity_check") == "ok\n", "\(point)")
        await between.stop(seconds: 1)

        try await account.sql("UPDATE account SET server = '127.0.0.1:\(world.server.port)'")
        let next = try account.process(["wake", "--budget", "300"])
        #expect(await next.end() != nil)
        #expect(next.ending == .exited(0), "\(point): \(next.errors)")
        #expect(
            try await account.sql("SELECT body FROM message ORDER BY position") == "one\ntwo\nthree\n", "\(point)")
        // At least once, and all runs together.
        shown.formUnion(next.shown)
        #expect(shown.count == 3, "\(point): \(next.output)")
    }

    /// A run that its budget ends. Returns what it has shown.
    private static func ended(_ account: Account, at point: Point, _ budget: Int) async throws -> Set<Int> {
        let run = try account.process(["wake", "--budget", "\(budget)"])
        let seconds = try #require(await run.end())
        measured("stalled at \(point), a budget of \(budget) s", seconds, atMost: Double(budget) + 0.2)
        #expect(run.ending == .exited(75), "\(point): \(run.errors)")
        #expect(run.output.hasSuffix("{\"event\":\"notification\",\"kind\":\"reopen\"}\n"), "\(point): \(run.output)")
        return Set(run.shown)
    }

    /// A separate account for each point, with a resumable session and three waiting messages.
    private struct Account {
        let world: World
        let data: String
        let name: String

        init(_ point: Point, _ world: World) async throws {
            self.world = world
            name = "a-\(point.rawValue)"
            data = world.laboratory.path(name)
            try await world.server.register(name, password: "secret")
            let kalij = try Kalij(data: data)
            #expect(try kalij.login(world.server, as: "\(name)@localhost").status == 0)
            let main = try process(["run"])
            #expect(await until { main.output.contains("\"caught_up\"") })
            main.signal(SIGTERM)
            #expect(await main.end() != nil)
            try await world.send(["one", "two", "three"], to: "\(name)@localhost")
        }

        @discardableResult
        func sql(_ text: String) async throws -> String {
            try await world.laboratory.run(
                "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", data + "/kalij.db", text])
        }

        func process(_ command: [String]) throws -> RoleProcess {
            try RoleProcess(
                command, executable: world.kalij.executable, data: data, in: world.laboratory,
                files: world.laboratory.path("p-\(name)-\(UUID().uuidString)"))
        }
    }
}

private func readAll(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
