import Foundation
import KalijLab
import Testing

/// Debian's profanity, driven in a terminal: a second client of an account, with none of Kalij's code.
struct Profanity {
    private let running: Running
    private let folder: String
    private let user: String
    private let laboratory: Laboratory

    /// A text in the client's own database.
    struct Text: Equatable {
        let from: String
        let body: String
        /// Whether the text replaces another (XEP-0308).
        let isCorrection: Bool
    }

    /// Comes back once the client has logged in.
    init(_ user: String, in world: World) async throws {
        (laboratory, self.user) = (world.laboratory, user)
        folder = world.laboratory.path("profanity")
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/profanity.py").path
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [program, folder, "\(user)@localhost", "\(world.server.port)", world.server.certificateAuthority])
        launch.environment["PROFANITY_PASSWORD"] = "secret"
        running = try Running(launch)
        let isThere = await until(20, every: 50) { !running.isRunning || has("RECV", "jabber:iq:roster") }
        let said = try running.errors
        #expect(isThere && running.isRunning, "profanity has not logged in: \(said)")
        try type("/receipts request on")
        try type("/receipts send on")
    }

    func type(_ line: String) throws { try running.process.write(line: line) }

    /// Ends the client.
    func quit() {
        running.process.closeInput()
        #expect(running.process.ended(within: 15) == .exited(0))
    }

    /// Whether the client has sent (`SENT`) or received (`RECV`) a stanza with all these words.
    func has(_ direction: String, _ words: String...) -> Bool {
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        return log.split(separator: "\n").contains { line in
            line.contains(" \(direction): ") && words.allSatisfy { line.contains($0) }
        }
    }

    /// The texts of the client, in their order.
    func texts() async throws -> [Text] {
        let database = folder + "/data/profanity/database/\(user)_at_localhost/chatlog.db"
        guard FileManager.default.fileExists(atPath: database) else { return [] }
        let rows = try await laboratory.run(
            "/usr/bin/sqlite3",
            [
                "-batch", "-cmd", ".timeout 10000", database,
                "SELECT from_jid, coalesce(replace_id, '') <> '', message FROM ChatLogs ORDER BY id",
            ])
        return rows.split(separator: "\n").map { $0.split(separator: "|", maxSplits: 2).map(String.init) }
            .map { Text(from: $0[0], body: $0[2], isCorrection: $0[1] == "1") }
    }
}
