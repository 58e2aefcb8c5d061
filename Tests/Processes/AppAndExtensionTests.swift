import Foundation
import KalijLab
import Testing

/// "An example in `Examples/` of two executables sharing a directory", as its README shows it.
@Suite(.serialized) struct AppAndExtensionTests {
    /// A program that runs, and the lines that it has printed.
    private final class Program {
        let process = Process()
        private let output: String

        init(_ name: String, _ arguments: [String], output: String) throws {
            let folder = try #require(
                ProcessInfo.processInfo.environment["KALIJ_EXAMPLE_APP"],
                "KALIJ_EXAMPLE_APP names the folder of the example's programs; `make test` builds them and sets this")
            self.output = output
            process.executableURL = URL(fileURLWithPath: folder + "/" + name)
            process.arguments = arguments
            process.environment = ["APP_PASSWORD": "secret"]
            try Data().write(to: URL(fileURLWithPath: output))
            process.standardOutput = FileHandle(forWritingAtPath: output)
            try process.run()
        }

        var lines: [String] {
            get throws { try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").map(String.init) }
        }

        /// Waits until it has printed `line` `count` times.
        func printed(_ line: String, _ count: Int = 1) async throws {
            for _ in 0..<2000 where try lines.count(where: { $0 == line }) < count {
                try await Task.sleep(for: .milliseconds(10))
            }
            let lines = try lines
            #expect(lines.count { $0 == line } >= count, "\(line): \(lines)")
        }

        /// Waits for its end.
        func ended() throws -> [String] {
            for _ in 0..<3000 where process.isRunning { usleep(20_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(process.arguments ?? [])")
            return try lines
        }
    }

    @Test("the notifier shows what came while the app was not running, or frozen; else it hands its push over")
    func together() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await makeServer(.prosody, in: laboratory)
        try await server.start()
        for user in ["alice", "bob"] { try await server.register(user, password: "secret") }
        let data = laboratory.path("alice")
        func start(_ name: String, _ words: String...) throws -> Program {
            try Program(name, [data] + words, output: laboratory.path(name + ".out"))
        }
        #expect(
            try start("app", "login", "alice@localhost", "127.0.0.1:\(server.port)", server.certificateAuthority)
                .ended() == [])
        let bob = try Kalij(data: laboratory.path("bob"))
        #expect(try bob.login(server, as: "bob@localhost").status == 0)

        // The first run finds the account's session.
        #expect(try start("notifier").ended() == [])
        #expect(try bob("send", "alice@localhost", "Are you there?").status == 0)
        #expect(try start("notifier").ended().map(Self.withoutIdentifier) == ["show bob@localhost: Are you there?"])
        #expect(try start("notifier").ended() == [])

        let app = try start("app", "run")
        defer { kill(app.process.processIdentifier, SIGKILL) }
        try await app.printed("online again")
        #expect(try start("notifier").ended() == ["the application is running, and takes care of it"])
        #expect(try bob("send", "alice@localhost", "I see you").status == 0)
        try await wait { try app.lines.contains { $0.hasSuffix(": I see you") } }

        kill(app.process.processIdentifier, SIGTSTP)
        try await app.printed("frozen")
        #expect(try bob("send", "alice@localhost", "Good night").status == 0)
        #expect(try start("notifier").ended().map(Self.withoutIdentifier) == ["show bob@localhost: Good night"])
        // Nobody drives: it waits in the mailbox.
        let sharing = try Program(
            "app", [data, "share", "bob@localhost", "Look at this"], output: laboratory.path("share.out"))
        #expect(try sharing.ended() == [])
        kill(app.process.processIdentifier, SIGCONT)
        try await app.printed("online again", 2)
        try await app.printed("Look at this: acked")
        #expect(try !app.lines.contains { $0.hasSuffix(": Good night") }, "it is stored already")
        kill(app.process.processIdentifier, SIGTERM)
        _ = try app.ended()
    }

    /// `show 1 bob@localhost: Hi` without the number.
    private static func withoutIdentifier(_ line: String) -> String {
        let words = line.split(separator: " ", maxSplits: 2)
        return words.count == 3 ? "\(words[0]) \(words[2])" : line
    }

    private func wait(_ isDone: () throws -> Bool) async throws {
        for _ in 0..<2000 where try !isDone() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try isDone())
    }
}
