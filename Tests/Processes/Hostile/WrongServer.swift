import Foundation
import KalijLab
import Testing

/// A hostile server that answers wrongly whatever the client asks (`Tests/Programs/wrong.py`), and what it has counted.
final class WrongServer {
    /// What the server has counted.
    struct Counts: Decodable {
        /// Requests and other stanzas of the client's, by kind.
        let kinds: [String: Int]
        /// The first stanza of each kind.
        let first: [String: String]
        /// Stanzas for the client; how many of them are results of archives, and requests and messages.
        let sent, results, asked: Int
        /// New sessions, resumed ones, and connections.
        let sessions, resumed, connections: Int
        /// From the client, inside of TLS.
        let bytes: Int
        let provoked: Int
        let done: Bool
        let seconds: Double
    }

    let port: Int
    let certificate: String
    private let running: Running
    private var asked = 0

    /// - Parameter amount: `--pushes` or `--seconds`, with a number.
    init(_ laboratory: Laboratory, seed: Int, _ amount: [String]) async throws {
        let key = laboratory.path("key.pem")
        certificate = laboratory.path("cert.pem")
        try await laboratory.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
            ])
        port = try freePort()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/wrong.py").path
        let options = ["--port", "\(port)", "--cert", certificate, "--key", key, "--seed", "\(seed)"]
        let running = try Running(laboratory.launch("/usr/bin/python3", [program] + options + amount))
        self.running = running
        #expect(try await until { try running.lines.contains("ready") || !running.isRunning })
        let said = try running.errors
        try #require(running.isRunning, "\(said)")
    }

    func logIn(_ kalij: Kalij) throws {
        let login = try kalij(
            "login", "juliet@localhost", "--direct-tls", "--server", "127.0.0.1:\(port)", "--ca", certificate,
            environment: ["KALIJ_PASSWORD": "secret"])
        try #require(login.status == 0, "\(login.errors)")
    }

    /// The counts by now.
    func counts() async throws -> Counts {
        asked += 1
        let number = asked
        try running.process.write(line: "")
        #expect(try await until { try running.lines.count > number })
        return try JSONDecoder().decode(Counts.self, from: Data(try running.lines[number].utf8))
    }
}
