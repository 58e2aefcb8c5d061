import Foundation
import KalijLab
import TestSupport
import Testing

/// A server that takes no letter unasked: one connection more, and no session is lost.
@Suite(.serialized) struct RefusedLetterTests {
    private static let error =
        "<stream:error><not-well-formed xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>"
    private static let failure =
        "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><malformed-request/></failure>"

    /// The letter that is refused, and how.
    private static let refusals: [(name: String, rules: [Middle.Rule])] = [
        ("<starttls/>, silence", [.up("<starttls", "hush", times: 1)]),
        ("<starttls/>, an error", [.up("<starttls", "answer", error, times: 1)]),
        ("<auth/>, silence", [.up("<auth ", "hush", times: 1)]),
        ("<auth/>, a failure", [.up("<auth ", "answer", failure, times: 1)]),
        ("<auth/>, an error", [.up("<auth ", "answer", error, times: 1)]),
        ("<resume/>, silence", [.up("<resume", "hush", times: 1)]),
        ("<resume/>, an error", [.up("<resume", "answer", error, times: 1)]),
        ("the header behind <response/>, silence", [.down("<success", "silence", times: 1)]),
    ]

    @Test("each letter is refused once, or met with silence: the session is resumed on the next connection")
    func refused() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await refused(kind) } }
            try await group.waitForAll()
        }
    }

    private func refused(_ kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        var options = ServerOptions()
        options.release = .installed
        let server = try await startedServer(kind, in: laboratory, options: options)
        let middle = try await Middle(server, in: laboratory)
        // No binding to the channel, or nobody could stand in the middle.
        let unbound = [Middle.Rule.down("<mechanism>[^<]*-PLUS</mechanism>")]
        try await middle.set(unbound)
        let kalij = try Kalij(data: laboratory.path("alice"))
        let login = try kalij.run(
            ["login", "alice@localhost", "--server", "127.0.0.1:\(middle.port)", "--ca", server.certificateAuthority],
            environment: ["KALIJ_PASSWORD": "secret"])
        try #require(login.status == 0, "\(login.errors)")
        for _ in 0..<3 { _ = try await reconnect(kalij) }
        // Each letter is refused by a server that has taken all before.
        let sql = ["-batch", "-cmd", ".timeout 10000", kalij.data + "/kalij.db"]
        try await laboratory.run("/usr/bin/sqlite3", sql + ["CREATE TABLE learned AS SELECT server FROM endpoint"])
        for (name, rules) in Self.refusals {
            try await laboratory.run(
                "/usr/bin/sqlite3", sql + ["UPDATE endpoint SET server = (SELECT server FROM learned)"])
            try await middle.set(unbound + rules)
            let before = try middle.events("open").count
            let isResumed = try await reconnect(kalij)
            let connections = try middle.events("open").count - before
            print("\(kind), \(name): \(connections) connections")
            #expect(isResumed, "\(kind), \(name): the session is lost")
            #expect(connections <= 2, "\(kind), \(name): \(connections) connections")
            // Learned: the next one has nothing to try out.
            let again = try middle.events("open").count
            let isResumedAgain = try await reconnect(kalij)
            let learned = try middle.events("open").count - again
            #expect(isResumedAgain && learned == 1, "\(kind), \(name): \(learned) connections")
        }
    }

    /// Whether the session was resumed.
    private func reconnect(_ kalij: Kalij) async throws -> Bool {
        let run = try kalij.running()
        defer { _ = run.end(SIGKILL) }
        return try await run.event("online")["resumed"] as? Bool ?? false
    }
}
