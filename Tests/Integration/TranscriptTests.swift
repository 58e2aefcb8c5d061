import Foundation
import KalijLab
import Testing

/// The conversations of `Tests/Simulation/Transcripts`, which the simulated server passes, too: so within these
/// conversations the simulator behaves like the real servers.
@Suite(.serialized) struct TranscriptTests {
    @Test("real servers behave in each conversation like the simulated servers", arguments: ServerKind.allCases)
    func transcripts(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Simulation/Transcripts")
        let scripts = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".txt") }.sorted().map { folder.appendingPathComponent($0).path }
        try #require(scripts.count >= 6)

        var launch = laboratory.launch(
            "/usr/bin/python3",
            [
                folder.appendingPathComponent("play.py").path, "--kind", kind.rawValue, "--port",
                "\(server.directTLSPort)", "--ca", server.certificateAuthority,
            ] + scripts)
        launch.output = .file(laboratory.path("said"))
        launch.errors = .file(laboratory.path("errors"))
        let player = try Subprocess(launch, writable: true)
        let deadline = Date().addingTimeInterval(180)
        var said: [String] = []
        var isOver = false
        while !isOver, Date() < deadline {
            isOver = await player.wait(seconds: 0.05) != nil
            let lines = try Self.lines(laboratory.path("said"))
            for line in lines.dropFirst(said.count) {
                said.append(line)
                guard line == "restart" else { continue }
                try await server.restart()
                try player.write(line: "done")
            }
        }
        let errors = try Self.lines(laboratory.path("errors"))
        #expect(isOver && said.filter { $0 != "restart" } == ["no difference"], "\(said) \(errors)")
    }

    /// The whole lines of a file.
    private static func lines(_ path: String) throws -> [String] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
