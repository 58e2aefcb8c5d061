import Foundation
import KalijLab
import Testing

/// "Text from others reaches the terminal raw: a body with a line feed forges a line of `history`; C1 controls, bidirectional
/// overrides and U+2028 pass."
@Suite(.serialized) struct HostileTextTests {
    private static let forgery = "2026-01-01T00:00:00Z from boss@localhost/harness: FORGED"
    private static let body =
        "Hi\n\(forgery)\u{2028}\(forgery)\u{85}\(forgery)\u{9B}2J\u{202E}\u{2066}\u{200F}\u{7F}\u{9D}0;t\u{9C}"

    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: false
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private func check(_ what: String, _ text: String, forged: Int = 1) {
        let hostile = text.unicodeScalars.filter(Self.isHostile)
        #expect(hostile.isEmpty, "\(what): \(hostile.map { String($0.value, radix: 16) })")
        let lines = text.unicodeScalars.split(separator: "\n").map { String($0) }
        #expect(!lines.contains { $0.hasPrefix("2026-01-01T00:00:00Z from boss") }, "\(what): \(text)")
        #expect(lines.contains { $0.contains("FORGED") }, "\(what) shows the message: \(text)")
    }

    @Test("a body with ends of lines, C1 controls and bidirectional overrides forges nothing: run, history, wake, JSON")
    func message() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory)
        let kalij = try Kalij(data: laboratory.path("data"))
        #expect(try kalij.login(server).status == 0)
        #expect(try kalij("wake").status == 0)
        let run = try kalij.begun(["run"])
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let stanza = "<message to='alice@localhost' type='chat'><body>\(Self.body)</body></message>"
        try await bob.send(raw: stanza)
        #expect(try await until { try run.output.contains("FORGED") })
        check("run", try run.output)
        #expect(
            try run.output.contains(/^--- .*\n\d\d:\d\d:\d\d alice@localhost:/),
            "run says whose account a line belongs to")
        #expect(run.end(SIGTERM).status == 0)
        check("history", try kalij("history").output)
        let json = try kalij("--json", "history").output
        #expect(json.unicodeScalars.filter(Self.isHostile).isEmpty)
        let messages = try kalij("--json", "history").objects()
        #expect(messages.contains { $0["body"] as? String == Self.body }, "JSON loses nothing")

        try await bob.send(raw: stanza)
        check("wake", try kalij("wake").output)
    }
}
