import Foundation
import KalijLab
import TestSupport
import Testing

/// `kalij export`, and the commands that remove a device and received files.
@Suite(.serialized) struct ExportCommandTests {
    @Test("export: messages as lines of JSON, into a new file or the output", arguments: LongForm.servers)
    func export(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let (kalij, file) = (world.kalij, world.laboratory.path("alice.jsonl"))
        try await world.send(["on the balcony"])
        #expect(try kalij("send", "bob@localhost", "Good night").status == 0)
        let run = try kalij.running()
        try await run.event("caught_up")
        #expect(try await until { try kalij("history", "--json").output.contains("balcony") })

        // Beside a driver.
        let exported = try kalij("--json", "export", file)
        #expect(exported.status == 0 && exported.output.contains("\"event\":\"exported\""))
        let lines = try kalij("export").objects()
        #expect(lines.first?["event"] as? String == "export" && lines.last?["lines"] as? Int == lines.count)
        #expect(
            Set(lines.compactMap { $0["body"] as? String }).isSuperset(of: ["on the balcony", "Good night"]))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.split(separator: "\n").count == lines.count)

        let again = try kalij("export", file)
        #expect(again.status == 65 && again.errors.contains("alice.jsonl") && again.errors.contains("exists"))
        #expect(try kalij("export", world.laboratory.path("no/such/folder")).status == 65)
        #expect(try kalij("export", "a", "b").status == 64)
        _ = run.end(SIGTERM)
    }

    @Test("a device that the account's list does not have is not removed; without received files nothing is cleared")
    func removals() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        let kalij = world.kalij
        let missing = try kalij("omemo", "remove", "4711")
        #expect(missing.status == 65 && missing.errors.contains("4711"))
        #expect(try kalij("omemo", "remove").status == 64)
        #expect(try kalij("omemo", "remove", "phone").status == 64)
        #expect(try kalij("download", "--clear").status == 0)
        #expect(try kalij("download", "--clear", "17").status == 64)
        #expect(try kalij("download", "--clear", "--to", "folder").status == 64)
    }
}
