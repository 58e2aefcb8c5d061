import Foundation
import KalijLab
import Testing

/// "An example in `Examples/` of two executables sharing a directory", as in the example's README.
@Suite(.serialized) struct AppAndExtensionTests {
    private func start(_ name: String, _ arguments: [String]) throws -> Running {
        let folder = try #require(
            ProcessInfo.processInfo.environment["KALIJ_EXAMPLE_APP"],
            "KALIJ_EXAMPLE_APP names the folder of the example's programs; `make test` builds them and sets this")
        var launch = Launch(executable: folder + "/" + name)
        launch.arguments = arguments
        launch.environment = ["APP_PASSWORD": "secret"]
        return try Running(launch)
    }

    /// Waits until the program has printed `line` `count` times.
    private func printed(_ line: String, _ count: Int = 1, by program: Running) async throws {
        let isPrinted = try await until { try program.lines.count { $0 == line } >= count }
        let lines = try program.lines
        #expect(isPrinted, "\(line): \(lines)")
    }

    /// Waits for the program's end.
    private func ended(_ program: Running) throws -> [String] {
        let ending = program.process.ended()
        let errors = try program.errors
        #expect(ending == .exited(0), "\(errors)")
        return try program.lines
    }

    @Test("the notifier shows messages received while the app was not running, or frozen; else it hands its push over")
    func together() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory)
        let data = laboratory.path("alice")
        let login = ["login", "alice@localhost", "127.0.0.1:\(server.port)", server.certificateAuthority]
        #expect(try ended(start("app", [data] + login)) == [])
        func notifier() throws -> [String] { try ended(start("notifier", [data])) }
        let bob = try Kalij(data: laboratory.path("bob"))
        #expect(try bob.login(server, as: "bob@localhost").status == 0)

        // The first run finds the account's session.
        #expect(try notifier() == [])
        #expect(try bob("send", "alice@localhost", "Are you there?").status == 0)
        #expect(try notifier().map(Self.withoutIdentifier) == ["show bob@localhost: Are you there?"])
        #expect(try notifier() == [])

        let app = try start("app", [data, "run"])
        try await printed("online again", by: app)
        #expect(try notifier() == ["the application is running, and takes care of it"])
        #expect(try bob("send", "alice@localhost", "I see you").status == 0)
        #expect(try await until { try app.lines.contains { $0.hasSuffix(": I see you") } })

        app.process.signal(SIGTSTP)
        try await printed("frozen", by: app)
        #expect(try bob("send", "alice@localhost", "Good night").status == 0)
        #expect(try notifier().map(Self.withoutIdentifier) == ["show bob@localhost: Good night"])
        // Nobody drives: the message waits in the mailbox.
        #expect(try ended(start("app", [data, "share", "bob@localhost", "Look at this"])) == [])
        let picture = laboratory.path("balcony.bin")
        try Data("a picture".utf8).write(to: URL(fileURLWithPath: picture))
        #expect(try ended(start("app", [data, "attach", "bob@localhost", picture])) == [])
        // What was accepted is sent, whatever becomes of the file.
        try FileManager.default.removeItem(atPath: picture)
        app.process.signal(SIGCONT)
        try await printed("online again", 2, by: app)
        try await printed("Look at this: acked", by: app)
        try await printed("balcony.bin: done", by: app)
        #expect(try !app.lines.contains { $0.hasSuffix(": Good night") }, "it is stored already")
        app.process.signal(SIGTERM)
        _ = try ended(app)
    }

    /// `show 1 bob@localhost: Hi` without the number.
    private static func withoutIdentifier(_ line: String) -> String {
        let words = line.split(separator: " ", maxSplits: 2)
        return words.count == 3 ? "\(words[0]) \(words[2])" : line
    }
}
