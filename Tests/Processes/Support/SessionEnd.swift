import KalijLab
import Testing

/// Tells when a server has given up the session of a process that died: a request to the session's address is answered only then, with
/// an error.
actor SessionEnd {
    private let client: RawClient
    private var questions = 0

    /// - Parameter user: a user of the server, who asks.
    init(_ user: String, in world: World) async throws {
        let client = try RawClient(user, world)
        try await client.ready()
        self.client = client
    }

    /// Waits for the end of the session of a directory; nothing runs there.
    func wait(for kalij: Kalij, in laboratory: Laboratory) async throws {
        let jid = try await laboratory.run(
            "/usr/bin/sqlite3",
            ["-batch", "-cmd", ".timeout 10000", kalij.data + "/kalij.db", "SELECT jid FROM session WHERE jid <> ''"])
        guard let jid = jid.split(separator: "\n").first else { return }
        questions += 1
        let id = "end-\(questions)"
        try client.send("<iq type='get' id='\(id)' to='\(jid)'><ping xmlns='urn:xmpp:ping'/></iq>")
        var answer: RawClient.Stanza?
        _ = try await until(every: 50) {
            answer = try client.stanzas.first { $0.id == id }
            return answer != nil
        }
        #expect(answer?.type == "error", "\(jid): \(answer?.xml ?? "no answer")")
    }
}

extension World {
    /// Waits until the server has given up the session of the directory, where nothing runs.
    /// - Parameter user: who asks.
    func sessionEnds(askedBy user: String = "bob") async throws {
        try await SessionEnd(user, in: self).wait(for: kalij, in: laboratory)
    }
}
