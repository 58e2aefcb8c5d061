import Foundation
import KalijLab
import TestSupport
import Testing

/// "SIGTERM lets everything go within 1 s, with a hung server too."
@Suite(.serialized) struct HungServerTests {
    @Test("SIGTERM lets everything go within a second when the server is frozen", arguments: ServerKind.allCases)
    func frozenServer(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let server = try #require(listener(on: world.server.port))
        try await world.online()

        for command in ["run", "wake", "flush"] {
            // Online: queued stanzas meet a socket that nobody reads.
            let online = try process(command, world)
            if command == "run" { #expect(await until { online.output.contains("\"caught_up\"") }) }
            if command != "flush" { try await world.untilDriven(by: command == "run" ? "main" : command) }
            try await sleep(for: .milliseconds(300))
            kill(server, SIGSTOP)
            #expect(try world.kalij("send", "bob@localhost", "to \(command)", "--queue-only").status == 0)
            try await sleep(for: .milliseconds(200))
            try await letsGo(online, world, "\(command), online")
            // On the way to a session: the kernel takes the connection, and nobody says anything.
            let early = try process(command, world)
            try await sleep(for: .milliseconds(700))
            // A process that could not send says that something is left.
            try await letsGo(early, world, "\(command), connecting", status: command == "flush" ? 75 : 0)
            kill(server, SIGCONT)
        }
        #expect(try world.kalij("flush", "--budget", "30").status == 0)
        #expect(try await world.sql("SELECT DISTINCT state FROM message") == "acked\n")
    }

    @Test("SIGTERM lets everything go within a second when the server is frozen and another process keeps the mailbox")
    func keptMailbox() async throws {
        let world = try await World()
        defer { world.close() }
        let server = try #require(listener(on: world.server.port))
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
            [command], executable: world.kalij.executable, data: world.kalij.data, in: world.laboratory,
            files: world.laboratory.path("p-\(UUID().uuidString)"))
    }

    private func letsGo(
        _ process: RoleProcess, _ world: World, _ what: String, status: Int32 = 0
    ) async throws {
        process.signal(SIGTERM)
        let seconds = try #require(await process.end(within: 20), "\(what) hangs")
        print("SIGTERM with a frozen \(world.server.kind): \(what): \(seconds) s")
        #expect(seconds < 1, "\(what)")
        #expect(process.ending == .exited(status), "\(what): \(process.errors)")
        #expect(try await world.sql("SELECT let_go FROM fence") == "1\n", "\(what)")
    }
}

/// The process listening on a TCP port of 127.0.0.1.
private func listener(on port: Int) -> pid_t? {
    let address = "0100007F:" + String(format: "%04X", port)
    let table = (try? systemFile("/proc/net/tcp")) ?? ""
    var inode: Substring?
    for line in table.split(separator: "\n") {
        let words = line.split(separator: " ")
        // Listening.
        if words.count > 9, words[1] == address, words[3] == "0A" { inode = words[9] }
    }
    guard let inode else { return nil }
    for pid in (names(in: "/proc")).compactMap({ pid_t($0) }) {
        let folder = "/proc/\(pid)/fd"
        let isListening = names(in: folder).contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)) == "socket:[\(inode)]"
        }
        if isListening { return pid }
    }
    return nil
}

private func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
}
