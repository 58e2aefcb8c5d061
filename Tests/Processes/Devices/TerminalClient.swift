import Foundation
import KalijLab
import Testing

/// A client for terminals, with none of Kalij's code, driven by its program in `Tests/Programs`.
struct TerminalClient {
    /// All files of the client.
    let folder: String
    private let name: String
    private let log: String
    private let running: Running

    /// - Parameters:
    ///   - name: of the client, and of its program in `Tests/Programs`.
    ///   - log: the file of the client's folder that has all stanzas.
    init(_ name: String, _ user: String, log: String, in world: World) throws {
        self.name = name
        folder = world.laboratory.path(name)
        self.log = folder + "/" + log
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/\(name).py").path
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [program, folder, "\(user)@localhost", "\(world.server.port)", world.server.certificateAuthority])
        launch.environment[name.uppercased() + "_PASSWORD"] = "secret"
        // Otherwise Python leaves a folder beside its source.
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        running = try Running(launch)
    }

    /// Waits until the client is logged in, which `stanza`'s words in a stanza received tell.
    func loggedIn(_ stanza: String...) async throws {
        let isThere = await until(every: 50) { !running.isRunning || has(["RECV: "] + stanza) }
        let said = try running.errors + running.output
        #expect(isThere && running.isRunning, "\(name) has not logged in: \(said)")
    }

    func type(_ line: String) throws { try running.process.write(line: line) }

    /// Ends the client.
    func quit() {
        running.process.closeInput()
        #expect(running.process.ended() == .exited(0))
    }

    private var lines: [Substring] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// Whether a line of the client's log has all these words.
    func has(_ words: [String]) -> Bool { lines.contains { line in words.allSatisfy { line.contains($0) } } }

    /// Whether the client's request with this word was answered.
    func isAnswered(_ word: String) -> Bool {
        let request = lines.first { $0.contains("SENT: ") && $0.contains(word) }
        guard let id = request?.firstMatch(of: #/ id=["']([^"']+)["']/#)?.1 else { return false }
        return has(["RECV: ", String(id)])
    }
}
