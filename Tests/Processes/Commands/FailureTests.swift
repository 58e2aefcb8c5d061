import Foundation
import KalijLab
import TestSupport
import Testing

/// "Failure looks like success": the final state and the reason are printed, and exit statuses agree with the documentation.
@Suite(.serialized) struct FailureTests {
    @Test("the server is down: send, flush, ping, disco, iq and history --older say why, and nothing is lost")
    func down() async throws {
        let world = try await World()
        defer { world.close() }
        let kalij = world.kalij
        #expect(try kalij("flush").errors.contains("0 messages sent, 0 left"))
        await world.server.stop()
        let sent = try kalij("send", "bob@localhost", "one")
        #expect(sent.status == 0, "it is on the disk and will be sent")
        #expect(sent.output.contains("to bob@localhost [queued]: one"))
        #expect(sent.errors.contains("accepted, but not sent yet") && sent.errors.contains("connection refused"))
        let confirmed = try kalij("--json", "send", "bob@localhost", "two", "--confirm")
        #expect(confirmed.status == 69 && confirmed.errors.contains("connection refused"))
        #expect(try confirmed.objects().compactMap { $0["state"] as? String } == ["queued"])

        let flush = try kalij("flush", "--budget", "5")
        #expect(flush.status == 69)
        #expect(flush.errors.contains("2 left") && flush.errors.contains("connection refused"))
        for command in [
            ["ping", "localhost"], ["disco", "localhost"], ["iq", "localhost", "<a xmlns='b'/>"],
            ["history", "--older", "5"],
        ] {
            let asked = try kalij.run(command)
            #expect(asked.status == 69, "\(command): \(asked.errors)")
            #expect(asked.errors.contains("your server was not asked") && asked.errors.contains("connection refused"))
            #expect(!asked.errors.contains("no answer from"), "nobody was asked: \(asked.errors)")
        }
        // Another process drives, and is not online either.
        let run = try kalij.running()
        try await run.event("offline")
        let waiting = try kalij("ping", "localhost", "--wait", "2")
        #expect(waiting.status == 75 && waiting.errors.contains("your server was not reached in time"))
        #expect(run.end(SIGTERM).status == 0)

        try await world.server.start()
        let again = try kalij("flush")
        #expect(again.status == 0 && again.errors.contains("2 messages sent, 0 left"), "\(again.errors)")
        let states = try kalij("--json", "history").objects().compactMap { $0["state"] as? String }
        #expect(states == ["acked", "acked"])
    }

    @Test("the password was changed: send says so, and with --confirm exits 77") func refused() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.server.register("alice", password: "changed")
        let sent = try world.kalij("send", "bob@localhost", "one")
        #expect(sent.status == 0 && sent.errors.contains("accepted, but not sent yet: alice@localhost: "))
        #expect(try world.kalij("send", "bob@localhost", "two", "--confirm").status == 77)
        #expect(try world.kalij("flush").status == 77)
        #expect(try world.kalij("ping", "localhost").status == 77)
    }

    @Test(
        "send tells the final state: acked, or failed with the server's reason and exit status 65",
        arguments: LongForm.servers)
    func finalState(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let kalij = world.kalij
        let good = try kalij("--json", "send", "bob@localhost", "Hi")
        #expect(good.status == 0)
        #expect(try good.objects().compactMap { $0["event"] as? String } == ["message", "state"])
        #expect(try good.objects().compactMap { $0["state"] as? String } == ["queued", "acked"])
        #expect(try kalij("send", "bob@localhost", "Hi").output.contains("[acked]: Hi"))
        for address in ["nobody@localhost", "bob@nowhere.invalid", "bob@conference.localhost"] {
            let bad = try kalij("send", address, "Hi")
            #expect(bad.status == 65, "\(address): \(bad.output) \(bad.errors)")
            #expect(bad.output.contains("[failed] ("), "\(address): \(bad.output)")
            #expect(bad.errors.contains("kalij: refused: "))
        }
        for address in ["a@b@c", "@localhost", "bob@", "a b@localhost", ""] {
            let bad = try kalij("send", address, "Hi")
            #expect(bad.status == 65 && bad.output.isEmpty, "\(address): \(bad.status) \(bad.output) \(bad.errors)")
        }
        let run = try kalij.running()
        try await run.event("caught_up")
        #expect(try kalij("send", "bob@localhost", "Hi", "--confirm").output.contains("[acked]: Hi"))
        let failed = try kalij("send", "nobody@localhost", "Hi", "--confirm")
        #expect([0, 65].contains(failed.status), "the process that drives hears of it")
        try await run.event("state") { $0["state"] as? String == "failed" }
        #expect(try kalij("send", "bob@localhost", "Hi", "--confirm", "--queue-only").status == 64)
    }

    @Test("errors of login name the way out: --ca for a self-signed certificate, --direct-tls and its reverse")
    func waysOut() async throws {
        let world = try await World()
        defer { world.close() }
        func login(_ port: Int, _ more: String...) throws -> Kalij.Outcome {
            try world.kalij.run(
                ["login", "alice@localhost", "--server", "127.0.0.1:\(port)"] + more,
                environment: ["KALIJ_PASSWORD": "secret"])
        }
        let stranger = try login(world.server.port)
        #expect(
            stranger.status == 69 && stranger.errors.contains("self-signed") && stranger.errors.contains("--ca FILE"))
        let authority = world.server.certificateAuthority
        let tls = try login(world.server.directTLSPort, "--ca", authority)
        #expect(tls.status == 69 && tls.errors.contains("say so with --direct-tls"), "\(tls.errors)")
        let plain = try login(world.server.port, "--ca", authority, "--direct-tls")
        #expect(plain.status == 69 && plain.errors.contains("leave out --direct-tls"), "\(plain.errors)")
    }

    @Test("login at a server without a certificate says so")
    func noCertificate() async throws {
        let world = try await World()
        defer { world.close() }
        let port = try freePort()
        var launch = Launch(executable: "/usr/bin/openssl")
        launch.arguments = ["s_server", "-nocert", "-www", "-accept", "127.0.0.1:\(port)"]
        let server = try Running(launch)
        defer { _ = server.end(SIGKILL) }
        #expect(try await until { try server.output.contains("ACCEPT") })
        let outcome = try world.kalij.run(
            ["login", "alice@localhost", "--server", "127.0.0.1:\(port)", "--direct-tls"],
            environment: ["KALIJ_PASSWORD": "secret"])
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("the server may have no certificate for localhost"), "\(outcome.errors)")
    }

    @Test("run begins each line with its account") func accounts() async throws {
        let world = try await World()
        defer { world.close() }
        #expect(try world.kalij.login(world.server, as: "bob@localhost").status == 0)
        let run = try world.kalij.begun(["-v", "run"])
        #expect(try await until { try run.errors.count(of: "online as") == 2 })
        for (one, other) in [("alice", "bob"), ("bob", "alice")] {
            let sent = try world.kalij("send", "\(other)@localhost", "Hi", "--account", "\(one)@localhost", "--confirm")
            #expect(sent.status == 0, "\(sent.errors)")
        }
        #expect(try await until { try run.output.count(of: "Hi") >= 2 })
        #expect(run.end(SIGTERM).status == 0)
        // A message's time is before the account, and a line for the day belongs to all accounts.
        let lines = try (run.lines + run.errors.split(separator: "\n").map(String.init))
            .filter { !$0.hasPrefix("--- ") }.map { $0.replacing(/^\d\d:\d\d:\d\d\s/, with: "") }
        #expect(lines.count > 6)
        for line in lines {
            #expect(line.hasPrefix("alice@localhost: ") || line.hasPrefix("bob@localhost: "), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("bob@localhost: ") && $0.contains("from alice@localhost") })
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}
