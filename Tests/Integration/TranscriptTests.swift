import Foundation
import KalijLab
import Testing

/// The conversations of `Tests/Simulation/Transcripts`, which the simulated server passes, too: so within these
/// conversations the simulator behaves like the real servers.
@Suite(.serialized) struct TranscriptTests {
    @Test("real servers behave in each conversation like the simulated servers", arguments: ServerKind.allCases)
    func transcripts(kind: ServerKind) async throws {
        try await play("Transcripts", atLeast: 6, to: kind)
    }

    @Test(
        "Debian 13's servers behave like the simulated ones in logins with SASL2 and tokens",
        .enabled(if: DebianRelease.available.count > 1, "KALIJ_DEBIAN13 is not set"), arguments: ServerKind.allCases)
    func oneFlight(kind: ServerKind) async throws {
        var options = ServerOptions()
        (options.oneFlight, options.release) = (true, DebianRelease.available.last ?? .installed)
        try await play("Transcripts/OneFlight", atLeast: 2, to: kind, options)
    }

    private func play(
        _ name: String, atLeast count: Int, to kind: ServerKind, _ options: ServerOptions = ServerOptions()
    ) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory, options: options)
        let simulation = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Simulation")
        let folder = simulation.appendingPathComponent(name)
        let scripts = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".txt") }.sorted().map { folder.appendingPathComponent($0).path }
        try #require(scripts.count >= count)

        var launch = laboratory.launch(
            "/usr/bin/python3",
            [
                simulation.appendingPathComponent("Transcripts/play.py").path, "--server",
                Self.name(kind, options.release), "--port", "\(server.directTLSPort)", "--ca",
                server.certificateAuthority,
            ] + scripts)
        launch.output = .file(laboratory.path("said"))
        launch.errors = .file(laboratory.path("errors"))
        let player = try Subprocess(launch, writable: true)
        var said: [String] = []
        var isOver = false
        // The player gives up by itself what hangs.
        while !isOver {
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

    /// A server's name in the transcripts.
    private static func name(_ kind: ServerKind, _ release: DebianRelease) -> String {
        switch kind {
        case .prosody: release == .installed ? "Prosody 0.12" : "Prosody 13.0"
        case .ejabberd: release == .installed ? "ejabberd 23.01" : "ejabberd 24.12"
        }
    }

    /// The whole lines of a file.
    private static func lines(_ path: String) throws -> [String] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
