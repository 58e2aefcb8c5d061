import Foundation
import KalijLab
import TestSupport
import Testing

/// Accounts that users make, change and remove themselves, at real servers.
@Suite(.serialized) struct RegistrationTests {
    private func world(
        _ kind: ServerKind, _ policy: RegistrationPolicy = .anybody
    ) async throws -> (Laboratory, any XMPPServer, Kalij) {
        let laboratory = try Laboratory()
        var options = ServerOptions()
        options.registration = policy
        // Prosody 13's prosodyctl does not make the invitation that 0.12's makes.
        if policy == .invited { options.release = .installed }
        let server = try await startedServer(kind, in: laboratory, options: options)
        return (laboratory, server, try Kalij(data: laboratory.path("data")))
    }

    private func register(
        _ kalij: Kalij, _ server: any XMPPServer, _ words: [String], password: String = "verona"
    ) throws -> Kalij.Outcome {
        try kalij.run(
            ["register"] + words + ["--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority],
            environment: ["KALIJ_PASSWORD": password])
    }

    @Test(
        "register makes an account that sends; again is the same; a taken address is 77", arguments: LongForm.servers
    )
    func register(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        let new = try register(kalij, server, ["juliet@localhost"])
        #expect(new.status == 0, "\(new.errors)")
        #expect(try kalij("send", "bob@localhost", "a new account", "--confirm").status == 0)
        // As after a kill between the registration and the login.
        #expect(try register(kalij, server, ["juliet@localhost"]).status == 0)
        let taken = try register(kalij, server, ["alice@localhost"])
        #expect(taken.status == 77)
        #expect(taken.errors.contains("taken"), "\(taken.errors)")
        let field = try register(kalij, server, ["romeo@localhost", "--field", "shoe=44"])
        #expect(field.status == 65, "\(field.errors)")
    }

    @Test("a server that registers nobody is 77", arguments: LongForm.servers)
    func nobody(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind, .nobody)
        defer { laboratory.close() }
        let refused = try register(kalij, server, ["juliet@localhost"])
        #expect(refused.status == 77, "\(refused.errors)")
    }

    @Test("an invitation makes an account once, and only with its token")
    func invitation() async throws {
        let (laboratory, server, kalij) = try await world(.prosody, .invited)
        defer { laboratory.close() }
        let link = try await #require(server as? Prosody).invitation()
        let without = try register(kalij, server, ["juliet@localhost"])
        #expect(without.status == 77, "\(without.errors)")
        let wrong = try register(kalij, server, ["juliet@localhost", "--token", "nonsense"])
        #expect(wrong.status == 77, "\(wrong.errors)")
        #expect(try register(kalij, server, [link]).status == 64, "the link names no user")
        let invited = try register(kalij, server, [link, "juliet@localhost"])
        #expect(invited.status == 0, "\(invited.errors)")
        #expect(try register(kalij, server, [link, "romeo@localhost"]).status == 77, "a token is good for once")
    }

    @Test(
        "password changes the password, with and without a driver; the account logs in afterwards",
        arguments: LongForm.servers)
    func password(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        #expect(try kalij.login(server).status == 0)
        let alone = try kalij("password", "alice@localhost", environment: ["KALIJ_PASSWORD": "second"])
        #expect(alone.status == 0, "\(alone.errors)")
        let run = try kalij.running()
        try await run.event("online")
        let beside = try kalij("password", "alice@localhost", environment: ["KALIJ_PASSWORD": "third"])
        #expect(beside.status == 0, "\(beside.errors)")
        #expect(run.end(SIGTERM).status == 0)
        #expect(try kalij("send", "bob@localhost", "still there", "--confirm").status == 0)
        let other = try Kalij(data: laboratory.path("other"))
        #expect(try other.login(server, password: "second").status == 77)
        #expect(try other.login(server, password: "third").status == 0)
        // The keys of the login after the change took the place of the password.
        let stored = try await laboratory.run(
            "/usr/bin/sqlite3",
            [kalij.data + "/kalij.db", "SELECT keys IS NOT NULL, password IS NULL, new_password IS NULL FROM account"])
        #expect(stored == "1|1|1\n")
    }

    @Test("a change of the password killed at any time leaves an account that logs in", arguments: LongForm.servers)
    func kills(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        #expect(try kalij.login(server).status == 0)
        let random = RandomChoices("password kills on \(kind)")
        for round in 0..<8 {
            let password = "password\(round)"
            let change = try Running(
                kalij.launch(["password", "alice@localhost"], environment: ["KALIJ_PASSWORD": password]))
            try await sleep(for: random.milliseconds(0...400))
            change.process.signal(SIGKILL)
            _ = change.process.ended()
            let sent = try kalij("send", "bob@localhost", "after kill \(round)", "--confirm")
            #expect(sent.status == 0, "round \(round): \(sent.errors)")
        }
    }

    @Test(
        "logout --unregister removes the account there and here, after a confirmation", arguments: LongForm.servers)
    func unregister(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        #expect(try kalij.login(server).status == 0)
        #expect(try kalij("logout", "alice@localhost", "--unregister").status == 64, "nobody was asked")
        #expect(try kalij("send", "bob@localhost", "hello", "--confirm").status == 0)
        let run = try kalij.running()
        try await run.event("online")
        let gone = try kalij("logout", "alice@localhost", "--unregister", "--yes")
        #expect(gone.status == 0, "\(gone.errors)")
        _ = run.end(SIGTERM)
        #expect(try kalij("--json", "status").output.contains("alice") == false)
        #expect(try kalij.login(server).status == 77)
        // Without a driver.
        #expect(try kalij.login(server, as: "bob@localhost").status == 0)
        let alone = try kalij("logout", "bob@localhost", "--unregister", "--yes")
        #expect(alone.status == 0, "\(alone.errors)")
        #expect(try kalij.login(server, as: "bob@localhost").status == 77)
    }
}
