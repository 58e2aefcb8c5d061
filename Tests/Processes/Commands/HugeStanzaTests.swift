import Foundation
import KalijLab
import Testing

/// A server that sends stanzas no server should send.
@Suite(.serialized) struct HugeStanzaTests {
    /// "A stanza of 100 MB: a clear stream error, memory within limits, reconnect with back-off."
    @Test("a stanza of 100 MB ends the stream long before all of the stanza is in memory, and the account comes back")
    func memory() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let (certificate, key) = (laboratory.path("cert.pem"), laboratory.path("key.pem"))
        try await laboratory.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
            ])
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
        let port = UInt16(try freePort())
        let server = try Running(
            laboratory.launch(
                "/usr/bin/python3",
                [
                    "\(root)/Sources/KalijLab/Resources/scripted.py", "--port", "\(port)", "--cert", certificate,
                    "--key", key, "--late", "huge",
                ]))
        #expect(try await until { try server.lines.contains("ready") })
        let kalij = try Kalij(data: laboratory.path("data"))
        #expect(try logIn(kalij, port, certificate) == 0)
        let run = try kalij.running()
        let offline = try await run.event("offline")
        #expect((offline["reason"] as? String)?.contains("policy-violation") == true)
        #expect((offline["retry_in"] as? Double).map { $0 > 0 } == true)
        // The client reads the rest of the stanza and throws it away: its memory is looked at while another one comes.
        var most = 0
        let isBack = try await until(every: 2) {
            most = max(most, try run.procStatus("RssAnon"))
            return try run.events().contains {
                $0["event"] as? String == "offline" && $0["at"] as? String != offline["at"] as? String
            }
        }
        #expect(isBack)
        print("huge stanza: RssAnon at most \(most) kB")
        #expect(most < 40_000, "an idle one has 4 MB, the stanza 100 MB")
        withExtendedLifetime(server) {}
        #expect(run.end(SIGTERM).status == 0)
    }

    private func logIn(_ kalij: Kalij, _ port: UInt16, _ certificate: String) throws -> Int32 {
        try kalij(
            "login", "juliet@localhost", "--direct-tls", "--server", "127.0.0.1:\(port)", "--ca", certificate,
            environment: ["KALIJ_PASSWORD": "secret"]
        ).status
    }
}
