import Foundation
import KalijLab
import TestSupport
import Testing

/// A server with alice and bob, and `kalij` processes of different roles in alice's directory.
struct World {
    let laboratory: Laboratory
    let server: any XMPPServer
    let kalij: Kalij

    init(
        _ kind: ServerKind = .prosody, options: ServerOptions = ServerOptions(), users: [String] = ["alice", "bob"]
    ) async throws {
        laboratory = try Laboratory()
        server = try await startedServer(kind, in: laboratory, options: options, users: users)
        kalij = try Kalij(data: laboratory.path("data"))
        #expect(try kalij.login(server).status == 0)
    }

    /// A part of a larger world: a user's `kalij`, logged in already.
    init(_ laboratory: Laboratory, _ server: any XMPPServer, _ kalij: Kalij) {
        (self.laboratory, self.server, self.kalij) = (laboratory, server, kalij)
    }

    func close() { laboratory.close() }

    /// Runs `body` with each server, at the same time: most of the time is waiting.
    static func atEachServer(
        options: ServerOptions = ServerOptions(), users: [String] = ["alice", "bob"],
        _ body: @Sendable @escaping (World) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
                group.addTask {
                    let world = try await World(kind, options: options, users: users)
                    defer { world.close() }
                    try await body(world)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Another client, of slixmpp.
    func peer(_ user: String) -> Peer { Peer(user, password: "secret", server: server, laboratory: laboratory) }

    /// Bob sends messages with these bodies.
    func send(_ bodies: [String], to recipient: String = "alice@localhost") async throws {
        let stanzas = bodies.map {
            "<message to='\(recipient)' type='chat' id='\(UUID().uuidString)'><body>\($0)</body></message>"
        }
        try await peer("bob").send(raw: stanzas.joined())
    }

    func sql(_ text: String) async throws -> String {
        try await laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", kalij.data + "/kalij.db", text])
    }

    /// Runs `wake` to its end; returns the output, the largest resident set in kB, and the time.
    func measuredWake() async throws -> (output: String, peak: Int, seconds: Double) {
        let script = """
            import os, sys
            pid = os.fork()
            if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
            usage = os.wait4(pid, 0)[2]
            print("peak", usage.ru_maxrss)
            """
        let start = Date()
        let output = try await laboratory.run(
            "/usr/bin/python3", ["-c", script, kalij.executable, "--data", kalij.data, "--json", "wake"])
        let peak = output.split(separator: "\n").last?.split(separator: " ").last.flatMap { Int($0) }
        return (output, try #require(peak), Date().timeIntervalSince(start))
    }

    /// A process within a transaction in a database of the directory.
    /// - Parameters:
    ///   - exclusively: keeps out readers too, like a process that closes the database.
    ///   - isFrozen: otherwise the process is only slow, and nobody kills it.
    func writerInTransaction(
        _ name: String = "kalij.db", exclusively: Bool = false, isFrozen: Bool = true
    ) async throws -> Running {
        var launch = Launch(executable: "/usr/bin/python3")
        launch.arguments = [
            "-c",
            """
            import sqlite3, sys, time
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("PRAGMA locking_mode=" + sys.argv[2])
            database.execute("BEGIN IMMEDIATE")
            print("begun", flush=True)
            time.sleep(600)
            """, kalij.data + "/" + name, exclusively ? "EXCLUSIVE" : "NORMAL",
        ]
        let writer = try Running(launch)
        #expect(try await until { try writer.lines == ["begun"] })
        if isFrozen { writer.process.signal(SIGSTOP) }
        return writer
    }

    /// Waits until the server lets nobody resume any of an account's sessions; `log` was made before the first of them.
    func untilLost(_ log: any SessionLogReader) async throws {
        var (log, bound, lost) = (log, 0, 0)
        let isLost = await until(every: 50) {
            for seen in log.newEvents() {
                if seen.event == .bound { bound += 1 } else if seen.event == .lost(.expired) { lost += 1 }
            }
            return bound > 0 && lost >= bound
        }
        #expect(isLost, "\(bound) sessions, \(lost) lost")
    }

    /// The session can be resumed: the process let go, or died.
    func online() async throws {
        let run = try kalij.running()
        try await run.event("caught_up")
        try await kalij.untilAnswered()
        #expect(run.end(SIGTERM).status == 0)
    }
}

extension Kalij.Outcome {
    /// The bodies of the notifications of a kind.
    func notified(_ kind: String = "show") throws -> [String] {
        try objects().filter { $0["event"] as? String == "notification" && $0["kind"] as? String == kind }
            .map { $0["body"] as? String ?? "" }
    }
}
