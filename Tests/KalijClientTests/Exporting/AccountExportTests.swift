import Foundation
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijFeatures

/// The export of an account as lines of JSON.
struct AccountExportTests {
    private struct Cancelled: Error {}

    private func export(_ harness: StepHarness) -> AccountExport {
        AccountExport(harness.directory, of: harness.account.jid)
    }

    private func filled(_ messages: Int) throws -> StepHarness {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe("romeo@example.net")
        for number in 0..<messages {
            try harness.receive(
                "<message from='romeo@example.net/o' type='chat' id='m\(number)'><body>line \(number)\u{202E}</body></message>"
            )
        }
        return harness
    }

    private func lines(_ harness: StepHarness) throws -> [[String: Any]] {
        var lines: [[String: Any]] = []
        try export(harness).read { line in
            #expect(!line.contains("\n") && !line.unicodeScalars.contains("\u{202E}"))
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            lines.append(try #require(object as? [String: Any]))
        }
        return lines
    }

    @Test("the first line has the form, the last one the number of lines; each message is there once, in order")
    func whole() throws {
        let harness = try filled(1203)
        let lines = try lines(harness)
        #expect(lines.first?["event"] as? String == "export" && lines.first?["format"] as? Int == 1)
        #expect(lines.last?["event"] as? String == "end" && lines.last?["lines"] as? Int == lines.count)
        let contacts = lines.filter { $0["event"] as? String == "contact" }.map { $0["contact"] as? String }
        #expect(contacts == ["romeo@example.net"])
        let messages = lines.filter { $0["event"] as? String == "message" }
        #expect(messages.map { $0["body"] as? String } == (0..<1203).map { "line \($0)\u{202E}" })
        #expect(messages.allSatisfy { $0["account"] as? String == "juliet@example.org" })
    }

    @Test("a text that still waits in the mailbox is among the messages")
    func mailbox() throws {
        let harness = try filled(1)
        try harness.directory.share("in the mailbox", to: .received("romeo@example.net"), from: harness.account.jid)
        #expect(try lines(harness).compactMap { $0["body"] as? String } == ["line 0\u{202E}", "in the mailbox"])
    }

    @Test("a file is whole or not there; an existing one is replaced only on request, and only its owner can read it")
    func saved() throws {
        let (harness, scratch) = (try filled(600), try ScratchDirectory())
        let path = scratch.file("juliet.jsonl")
        var parts: [Double] = []
        #expect(try export(harness).save(to: path) { parts.append($0) } == 600)
        #expect(parts == parts.sorted() && parts.first == 0 && parts.last == 1 && parts.count > 2)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == (try lines(harness)).count && text.hasSuffix("}\n"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(throws: FileError(.nameTaken)) { try export(harness).save(to: path) }
        #expect(throws: Cancelled.self) {
            try export(harness).save(to: path, replacing: true) { part in if part > 0 { throw Cancelled() } }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(try export(harness).save(to: path, replacing: true) == 600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["juliet.jsonl"])
        #expect(throws: FileError(.notFound)) { try export(harness).save(to: scratch.file("no/such/folder")) }
    }
}
