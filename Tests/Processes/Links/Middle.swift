import Foundation
import KalijLab
import Testing

/// A man in the middle with a valid certificate (`Tests/Programs/middle.py`).
final class Middle: @unchecked Sendable {
    /// The port that leads to STARTTLS.
    let port: Int
    /// The port that leads to TLS from the first byte.
    let directPort: Int
    // Used by one task of a test at a time.
    private let running: Running
    private var commands = 0

    init(_ server: any XMPPServer, in laboratory: Laboratory) async throws {
        (port, directPort) = (try freePort(), try freePort())
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/middle.py").path
        let authority = server.certificateAuthority
        let arguments = [
            program, "--ca", authority, authority.replacing(".crt", with: ".key"), "\(port):\(server.port)",
            "direct:\(directPort):\(server.directTLSPort)",
        ]
        running = try Running(laboratory.launch("/usr/bin/python3", arguments))
        let isReady = try await until { try events("ready").count == 1 }
        try #require(isReady)
    }

    /// What is done to letters that a regular expression is found in.
    struct Rule: Encodable, Sendable {
        let way: String
        let match: String
        let `do`: String
        var text = ""
        var times: Int?

        /// From the server.
        static func down(_ match: String, _ what: String = "replace", _ text: String = "", times: Int? = nil) -> Rule {
            Rule(way: "down", match: match, do: what, text: text, times: times)
        }
        /// From the client.
        static func up(_ match: String, _ what: String, _ text: String = "", times: Int? = nil) -> Rule {
            Rule(way: "up", match: match, do: what, text: text, times: times)
        }
    }

    struct Event: Decodable {
        let event: String
        let link: Int?
        let tls: Bool?
        let text: String?
        let answer: String?
    }

    func set(_ rules: [Rule]) async throws {
        try await tell(["clear": true])
        for rule in rules { try await tell(["rule": rule]) }
    }

    func tell(_ command: [String: some Encodable]) async throws {
        commands += 1
        try running.process.write(line: String(decoding: try JSONEncoder().encode(command), as: UTF8.self))
        let isDone = try await until { try events("done").count == commands }
        #expect(isDone)
    }

    func events(_ name: String) throws -> [Event] {
        try running.lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
            .filter { $0.event == name }
    }

    /// What clients have said so far.
    func said() throws -> [String] { try events("up").compactMap(\.text) }
}
