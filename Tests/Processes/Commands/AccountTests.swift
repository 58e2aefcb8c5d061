import Foundation
import KalijLab
import TestSupport
import Testing

/// The commands against real servers.
@Suite(.serialized) struct AccountTests {
    private func world(_ kind: ServerKind) async throws -> (Laboratory, any XMPPServer, Kalij) {
        let laboratory = try Laboratory()
        let server = try await startedServer(kind, in: laboratory)
        return (laboratory, server, try Kalij(data: laboratory.path("data")))
    }

    @Test(
        "login: a wrong password is 77 with the server's condition; a right password is stored, as keys, for its user alone",
        arguments: LongForm.servers)
    func login(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        let wrong = try kalij.login(server, password: "wrong")
        #expect(wrong.status == 77)
        #expect(wrong.errors.contains("not-authorized"))
        #expect(try kalij("status").output.contains("alice") == false)

        #expect(try kalij.login(server).status == 0)
        let stored = try await laboratory.run(
            "/usr/bin/sqlite3",
            [kalij.data + "/kalij.db", "SELECT mechanism, keys IS NOT NULL, password IS NULL FROM account"])
        #expect(stored.hasPrefix("SCRAM-SHA-") && stored.hasSuffix("|1|1\n"))
        let database = try Data(contentsOf: URL(fileURLWithPath: kalij.data + "/kalij.db"))
        #expect(database.range(of: Data("secret".utf8)) == nil)
        for name in ["", "/kalij.db"] {
            let mode = try FileManager.default.attributesOfItem(atPath: kalij.data + name)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0)
        }

        let stranger = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)",
            environment: ["KALIJ_PASSWORD": "secret"])
        #expect(stranger.status == 69, "the certificate's authority is unknown without --ca")
        #expect(stranger.errors.contains("127.0.0.1:\(server.port)"))
        let direct = try kalij(
            "login", "alice@localhost", "--direct-tls", "--server", "127.0.0.1:\(server.directTLSPort)",
            "--ca", server.certificateAuthority, environment: ["KALIJ_PASSWORD": "secret"])
        #expect(direct.status == 0)
    }

    @Test(
        "run, send and history, from both sides; a second run is told the driver and exits 75",
        arguments: LongForm.servers)
    func conversation(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        let bob = try Kalij(data: laboratory.path("bob"))
        #expect(try kalij.login(server).status == 0)
        #expect(try bob.login(server, as: "bob@localhost").status == 0)
        let run = try kalij.running()
        let online = try await run.event("online")
        #expect(online["resumed"] as? Bool == false)

        let second = try kalij("run")
        #expect(second.status == 75)
        #expect(second.errors.contains("process \(run.pid) drives this directory as `main`"))

        #expect(
            try bob("send", "alice@localhost", "Wherefore <art> & thou?").status == 0,
            "sent by itself: nobody drives bob")
        let received = try await run.event("message") { $0["direction"] as? String == "in" }
        #expect(received["body"] as? String == "Wherefore <art> & thou?")
        #expect((received["from"] as? String)?.hasPrefix("bob@localhost/") == true)

        #expect(try kalij("send", "bob@localhost", "From another process").status == 0)
        try run.process.write(line: #"{"command":"send","to":"bob@localhost","body":"From standard input","id":7}"#)
        let accepted = try await run.event("accepted")
        #expect(accepted["id"] as? Int == 7)
        try run.process.write(line: #"{"command":"send","to":"@@","body":"x","id":8}"#)
        try await run.event("error") { $0["id"] as? Int == 8 }
        for body in ["From another process", "From standard input"] {
            try await run.event("state") { $0["body"] as? String == body && $0["state"] as? String == "acked" }
        }
        let history = try kalij("--json", "history", "bob@localhost").objects()
        #expect(
            history.compactMap { $0["body"] as? String } == [
                "Wherefore <art> & thou?", "From another process", "From standard input",
            ])
        #expect(run.end(SIGTERM).status == 0)
        let status = try kalij("--json", "status").objects()
        #expect(status.first?["driver"] == nil)
        #expect((status.first?["accounts"] as? [[String: Any]])?.first?["resumable"] as? Bool == true)
    }

    /// "No stanza blocks an account."
    @Test(
        "ten thousand nested elements and a stanza of 2 MiB from a stranger are set aside, and the account goes on",
        arguments: LongForm.servers)
    func hostile(kind: ServerKind) async throws {
        let (laboratory, server, kalij) = try await world(kind)
        defer { laboratory.close() }
        #expect(try kalij.login(server).status == 0)
        var run = try kalij.running()
        try await run.event("caught_up")
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        try await bob.send(raw: HostileStanza.nested(10_000, to: "alice@localhost"))
        try await bob.send(raw: HostileStanza.large(2 << 20, to: "alice@localhost"))
        try await bob.send(raw: "<message to='alice@localhost' type='chat' id='after'><body>after</body></message>")
        try await run.event("message") { $0["body"] as? String == "after" }
        #expect(try run.events().count { $0["event"] as? String == "quarantined" } >= 2)
        #expect(run.end(SIGKILL).status == SIGKILL)
        run = try kalij.running()
        let online = try await run.event("online")
        #expect(online["resumed"] as? Bool == true)
        try await run.event("caught_up")
        let quarantine = try #require(try kalij("--json", "status").objects().first?["quarantine"] as? [[String: Any]])
        #expect(quarantine.count >= 2)
        #expect(quarantine.allSatisfy { ($0["reason"] as? String)?.hasPrefix("over the limit on") == true })
        #expect(try kalij("history").lines.count { !$0.hasPrefix("---") } == 1)
    }
}
