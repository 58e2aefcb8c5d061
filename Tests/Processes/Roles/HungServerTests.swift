import Foundation
import KalijLab
import TestSupport
import Testing

/// "SIGTERM lets everything go within 1 s, with a hung server too."
@Suite(.serialized) struct HungServerTests {
    @Test("SIGTERM lets everything go within a second when the server is frozen", arguments: LongForm.servers)
    func frozenServer(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let server = try #require(world.server.pid)
        try await world.online()

        // Online: queued stanzas meet a socket that nobody reads.
        let online = try process("run", world)
        #expect(await until { online.output.contains("\"caught_up\"") })
        kill(server, SIGSTOP)
        #expect(try world.kalij("send", "bob@localhost", "nobody reads it", "--queue-only").status == 0)
        #expect(try await until { try await world.sql("SELECT state FROM message") == "sent\n" })
        try await letsGo(online, world, "run, online")
        for command in ["run", "wake", "flush"] {
            // On the way to a session: the kernel takes the connection, and nobody says anything.
            let early = try process(command, world)
            #expect(await until { Self.connections(to: world.server.port) > 0 })
            // A process that could not send says that something is left.
            try await letsGo(early, world, "\(command), connecting", status: command == "flush" ? [75] : [0])
        }
        kill(server, SIGCONT)
        try await whileFetching(world, server)
        #expect(try world.kalij("flush").status == 0)
        #expect(try await world.sql("SELECT DISTINCT state FROM message WHERE direction = 'out'") == "acked\n")
    }

    /// A wake run that has begun to fetch.
    private func whileFetching(_ world: World, _ server: pid_t) async throws {
        var wake: RoleProcess?
        for number in 0..<20 {
            try await world.send(["message \(number)"])
            let run = try process("wake", world)
            #expect(await until { !run.shown.isEmpty || !run.isRunning })
            kill(server, SIGSTOP)
            wake = run.isRunning ? run : nil
            if wake != nil { break }
            // It was faster.
            kill(server, SIGCONT)
        }
        // Whether notifications are left to be shown is chance.
        try await letsGo(try #require(wake), world, "wake, online", status: [0, 75])
        kill(server, SIGCONT)
    }

    /// How many processes have a connection to a TCP port of 127.0.0.1.
    private static func connections(to port: Int) -> Int {
        let address = "0100007F:" + String(format: "%04X", port)
        let table = (try? systemFile("/proc/net/tcp")) ?? ""
        return table.split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count > 9 && words[2] == address && words[3] == "01"
        }
    }

    @Test("SIGTERM lets everything go within a second when the server is frozen and another process keeps the mailbox")
    func keptMailbox() async throws {
        let world = try await World()
        defer { world.close() }
        let server = try #require(world.server.pid)
        let main = try process("run", world)
        #expect(await until { main.output.contains("\"caught_up\"") })
        let writer = try await world.writerInTransaction("mailbox.db", isFrozen: false)
        kill(server, SIGSTOP)
        try await letsGo(main, world, "run, mailbox kept")
        kill(server, SIGCONT)
        #expect(writer.isRunning)
    }

    private func process(_ command: String, _ world: World) throws -> RoleProcess {
        try RoleProcess(
            command == "wake" ? [command, "--budget", "300"] : [command], executable: world.kalij.executable,
            data: world.kalij.data, in: world.laboratory,
            files: world.laboratory.path("p-\(UUID().uuidString)"))
    }

    private func letsGo(
        _ process: RoleProcess, _ world: World, _ what: String, status: [Int32] = [0]
    ) async throws {
        process.signal(SIGTERM)
        let seconds = try #require(await process.end(), "\(what) hangs")
        measured("SIGTERM with a frozen \(world.server.kind), \(what)", seconds, atMost: 1)
        #expect(status.map { .exited($0) }.contains(process.ending), "\(what): \(process.errors)")
        #expect(try await world.sql("SELECT let_go FROM fence") == "1\n", "\(what)")
    }
}
