import Foundation
import KalijLab
import Testing

/// The conversations of `Tests/Simulation/Transcripts`, which the simulated server passes, too: so the simulator does what
/// the real servers do, as far as they say.
@Suite(.serialized) struct TranscriptTests {
    @Test("real servers do in each conversation what the simulated ones do", arguments: ServerKind.allCases)
    func transcripts(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Simulation/Transcripts")
        let scripts = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".txt") }.sorted().map { folder.appendingPathComponent($0).path }
        try #require(scripts.count >= 6)

        let player = Process()
        let (input, output) = (Pipe(), Pipe())
        player.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        player.arguments =
            [
                folder.appendingPathComponent("play.py").path, "--kind", kind.rawValue, "--port",
                "\(server.directTLSPort)", "--ca", server.certificateAuthority,
            ] + scripts
        player.standardInput = input
        player.standardOutput = output
        try player.run()
        defer { if player.isRunning { player.terminate() } }
        var said: [String] = []
        while let line = try Self.line(output.fileHandleForReading) {
            if line == "restart" {
                try await server.restart()
                try input.fileHandleForWriting.write(contentsOf: Data("done\n".utf8))
            } else {
                said.append(line)
            }
        }
        player.waitUntilExit()
        #expect(said == ["no difference"])
    }

    /// The next line; nil at the end.
    private static func line(_ handle: FileHandle) throws -> String? {
        var bytes: [UInt8] = []
        while let byte = try handle.read(upToCount: 1)?.first {
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
