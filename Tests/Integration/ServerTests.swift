import Foundation
import KalijLab
import TestSupport
import Testing

/// The laboratory's servers are the real ones, and behave as the other tests expect.
@Suite(.serialized) struct ServerTests {
    @Test(
        "a port in use for a moment: the server starts once the port is free",
        arguments: ServerKind.allCases)
    func portTaken(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await makeServer(kind, in: laboratory)
        let mark = laboratory.path("listens")
        let script = """
            import signal, socket
            s = socket.socket(); s.bind(('127.0.0.1', \(server.port))); s.listen()
            open('\(mark)', 'w').close(); signal.pause()
            """
        let other = try Subprocess(laboratory.launch("/usr/bin/python3", ["-c", script]))
        try await eventually { FileManager.default.fileExists(atPath: mark) }
        async let started: Void = server.start()
        // The port is free only after the server was refused the port.
        try await eventually {
            let log = try? String(contentsOfFile: server.logPath, encoding: .utf8)
            return log?.lowercased().contains("in use") == true
        }
        #expect(other.ending() == nil)
        await other.stop(seconds: hangLimit)
        try await started
        await server.stop()
    }

    @Test("ports are handed out once, also to several processes")
    func ports() throws {
        let ours = try (0..<50).map { _ in try freePort() }
        #expect(Set(ours.map { $0 / 3 }).count == 50)
        let script = """
            import fcntl, os, sys
            f = os.open("/tmp/kalij-ports-%d" % os.getuid(), os.O_RDWR)
            def held(port):
                try: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
                except OSError: return True
                return False
            sys.exit(0 if all(held(int(port)) for port in sys.argv[1:]) else 1)
            """
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let other = try Subprocess(laboratory.launch("/usr/bin/python3", ["-c", script] + ours.map(String.init)))
        #expect(other.blockingWait(seconds: hangLimit) == .exited(0))
    }

    @Test(
        "a server starts, takes logins, archives for both sides, and leaves nothing running",
        arguments: ServerKind.allCases)
    func conversation(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)

        let listening = try await alice.chat(with: "bob@localhost", label: "r", rate: 0, count: 3)
        let talking = try await bob.chat(with: "alice@localhost", label: "m", rate: 0, count: 40)
        try await talking.finished()
        try await listening.finished()
        try await eventually { try listening.events().count { $0.event == "received" } == 40 }
        await listening.quit()
        await talking.quit()

        let expected = (1...40).map { "m \($0)" }
        let heard = try listening.events().filter { $0.event == "received" }.compactMap(\.body)
        #expect(heard == expected, "delivered live in order")
        for account in [alice, bob] {
            let entries = try await account.archive()
            #expect(
                entries.compactMap(\.body).filter { $0.hasPrefix("m") } == expected,
                "archived in order, once, for \(account.address)")
            #expect(entries.count == 43)
            #expect(Set(entries.map(\.archiveID)).count == 43, "every entry has an id of its own")
        }
        await server.stop()
        laboratory.close()
        #expect(!FileManager.default.fileExists(atPath: laboratory.directory))
        #expect(processes(mentioning: laboratory.directory).isEmpty)
    }

    @Test("the release that was asked for runs", arguments: ServerKind.allCases, DebianRelease.available)
    func release(kind: ServerKind, release: DebianRelease) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        var options = ServerOptions()
        options.release = release
        let server = try await startedServer(kind, in: laboratory, options: options)
        let log = try String(contentsOfFile: server.logPath, encoding: .utf8)
        let versions = [
            ServerKind.prosody: ["rosody version 0.12", "rosody version 13.0"],
            .ejabberd: ["ejabberd 23.01", "ejabberd 24.12"],
        ]
        let version = try #require(versions[kind]?[release == .installed ? 0 : 1])
        #expect(log.contains(version), "\(log.suffix(1000))")
    }

    @Test("a restart keeps accounts and archive, and ends sessions", arguments: ServerKind.allCases)
    func restart(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let chat = try await bob.chat(with: "alice@localhost", label: "m", rate: 0, count: 5)
        try await chat.finished()
        try await server.restart()
        try await eventually { (try? chat.events()) == nil }
        #expect(try await bob.archive().compactMap(\.body) == (1...5).map { "m \($0)" })
    }

    @Test("a wrong password is refused, and the peer says so", arguments: ServerKind.allCases)
    func wrongPassword(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let impostor = Peer("bob", password: "wrong", server: server, laboratory: laboratory)
        await #expect(throws: LaboratoryError.self) { _ = try await impostor.archive() }
    }

    /// Measured: 12,000 nested elements from a stranger are delivered.
    @Test("hostile stanzas get through the server", arguments: ServerKind.allCases)
    func hostile(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        try await bob.send(raw: HostileStanza.nested(12_000, to: "alice@localhost"))
        try await bob.send(raw: HostileStanza.large(2 << 20, to: "alice@localhost"))
        let entries = try await alice.archive()
        #expect(entries.map(\.id) == ["nested", "large"])
        #expect(entries.last?.body?.utf8.count == 2 << 20)
    }

    @Test("a missing program is named together with its Debian package")
    func missingProgram() {
        #expect {
            _ = try Tool(name: "kalij-no-such-tool", package: "some-package").path()
        } throws: {
            "\($0)".contains("kalij-no-such-tool") && "\($0)".contains("some-package")
        }
    }
}

/// Waits for something to become true.
func eventually(_ condition: () throws -> Bool) async throws {
    let deadline = Date().addingTimeInterval(hangLimit)
    while Date() < deadline {
        if try condition() { return }
        try await sleep(for: .milliseconds(20))
    }
    Issue.record("it did not become true within \(hangLimit) s")
}

/// The processes with a text in the command line or environment.
func processes(mentioning text: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { Int($0) != nil }.filter { pid in
        ["cmdline", "environ"].contains { file in
            guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/\(file)") else { return false }
            return data.range(of: Data(text.utf8)) != nil
        }
    }
}
