import Foundation
import KalijLab
import Testing

/// Older history on demand, from real servers' archives.
@Suite(.serialized) struct HistoryTests {
    private func bodies(_ outcome: Kalij.Outcome) throws -> [String] {
        try outcome.objects().compactMap { $0["body"] as? String }
    }

    private func gaps(_ outcome: Kalij.Outcome) throws -> [String] {
        try outcome.objects().filter { $0["event"] as? String == "gap" }.compactMap { $0["reason"] as? String }
    }

    @Test(
        "the first login looks back as far as it is told; older messages are fetched page by page, with a driver and without",
        arguments: ServerKind.allCases)
    func older(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await makeServer(kind, in: laboratory)
        try await server.start()
        for user in ["alice", "bob"] { try await server.register(user, password: "secret") }
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let sent = (1...250).map { "message \($0)" }
        let stanzas = sent.enumerated().map {
            "<message to='alice@localhost' type='chat' id='m\($0)'><body>\($1)</body></message>"
        }
        try await bob.send(raw: stanzas.joined())
        // The archive may be written a little later.
        try await Task.sleep(for: .seconds(1))
        let kalij = try Kalij(data: laboratory.path("data"))
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            "--history-days", "0", environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0)

        let run = try kalij.running()
        try await run.event("caught_up")
        let first = try kalij("--json", "history")
        #expect(first.status == 1, "nothing is stored")
        #expect(try gaps(first) == ["not-fetched"])

        let some = try kalij("--json", "history", "--older", "120", "--limit", "1000")
        #expect(some.status == 0, "\(some.errors)")
        let fetched = try bodies(some)
        #expect(fetched.count >= 120 && fetched.count < 250)
        #expect(fetched == Array(sent.suffix(fetched.count)))
        #expect(try gaps(some) == ["not-fetched"])
        #expect(run.end(SIGKILL).status == SIGKILL)

        let all = try kalij("--json", "history", "--older", "1000", "--limit", "1000")
        #expect(all.status == 0, "\(all.errors)")
        #expect(try bodies(all) == sent)
        #expect(try gaps(all).isEmpty)
        #expect(try kalij("history", "--older", "5").errors.contains("0 older messages fetched"))
    }
}
