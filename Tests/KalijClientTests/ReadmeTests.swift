import Foundation
import KalijAddress
import KalijLab
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The README's example, word for word, so that it compiles.
@Suite struct ReadmeTests {
    // snippet
    enum Echo: Feature, StoredMessageObserver {
        static let name = "org.example.echo"

        static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
            // What was archived before the login is not answered.
            guard message.direction == .incoming, message.type == "chat", let body = message.body,
                try !step.isHistory(incoming)
            else { return }
            do { try step.accept("You said: \(body)", to: incoming.sender.bare) } catch is AcceptError {}  // too long
        }
    }
    // end

    // snippet
    static func echo(_ folder: String) throws {
        var options = Engine.Options()
        options.features = [Echo.self]
        options.stopsOnSignals = true
        do {
            try Engine(AccountDirectory(folder), options: options) { event in
                if let line = event.content.line { print(line) }
                fflush(nil)
            }.run()
        } catch {
            print("echo: \(error)")
            exit(1)
        }
    }
    // end

    private static func root() -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    @Test("the README's example is the code that compiles")
    func sameExample() throws {
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let readme = try String(contentsOf: Self.root().appendingPathComponent("README.md"), encoding: .utf8)
        let parts = source.components(separatedBy: "    // snippet\n").dropFirst()
        #expect(parts.count == 2)
        for part in parts {
            let body = try #require(part.components(separatedBy: "    // end").first)
            var lines = body.split(separator: "\n", omittingEmptySubsequences: false).map { $0.dropFirst(4) }
            // The statements of the program stand in a function here.
            if lines.first?.hasPrefix("static func") ?? false {
                lines = lines.dropFirst().dropLast(2).map { $0.dropFirst(4) }
            }
            let text = lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
            #expect(readme.contains(text.replacing("(folder)", with: "(\"echo-data\")")), "\(text)")
        }
    }

    /// "its bot logs in first, does not answer two weeks of archive in a fresh directory, and claims only what it keeps": each claim
    /// of the README, with the code that it prints.
    @Test(
        "the README's bot logs in, answers no messages from before its first start, and later all messages from its downtime, once"
    )
    func claims() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory, users: ["echo", "bob"])
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        func write(_ text: String) async throws {
            try await bob.send(
                raw: "<message to='echo@localhost' type='chat' id='\(text)'><body>\(text)</body></message>")
        }
        for text in ["old-1", "old-2"] { try await write(text) }
        // An archive's stamps are whole seconds.
        try await sleep(for: .seconds(2))
        try await run(server, laboratory) {
            try await write("new")
            try await answered(["You said: new"], bob)
        }
        try await write("meanwhile")
        try await run(server, laboratory) { try await answered(["You said: new", "You said: meanwhile"], bob) }
    }

    /// Runs the bot while `body` does something, until it is online and then logged out.
    private func run(
        _ server: any XMPPServer, _ laboratory: Laboratory, _ body: () async throws -> Void
    ) async throws {
        let folder = laboratory.path("echo")
        let settings = ServerSettings(
            override: HostAndPort("127.0.0.1:\(server.port)"), caFile: server.certificateAuthority)
        let directory = AccountDirectory(folder)
        try directory.logIn(try JID("echo@localhost"), password: "secret", resource: "echo", server: settings)
        // The bot blocks its thread, and tasks have few threads.
        let (ending, ended) = AsyncStream.makeStream(of: (any Error)?.self)
        Thread.detachNewThread {
            do {
                try Self.echo(folder)
                ended.yield(nil)
            } catch { ended.yield(error) }
            ended.finish()
        }
        try await wait("the bot is online") {
            // Before the login is through, there is no account yet.
            guard let database = try? directory.read() else { return false }
            let status = StatusReader(directory, database)
            return try status.driver() != nil && status.accounts().first?.catchUp == "done"
        }
        try await body()
        let database = try directory.open(.machine, role: .share, now: Clock.system.now())
        let table = AccountTable(database)
        _ = try directory.ringing { try table.requestLogout(try table.account(nil, in: directory), removing: false) }
        for await error in ending { #expect(error == nil) }
    }

    private func answered(_ expected: [String], _ bob: Peer) async throws {
        try await wait("\(expected) is answered") {
            try await bob.archive().compactMap(\.body).filter { $0.hasPrefix("You said") }.count >= expected.count
        }
        let answers = try await bob.archive().compactMap(\.body).filter { $0.hasPrefix("You said") }
        #expect(answers == expected)
    }

    private func wait(_ what: String, until isTrue: () async throws -> Bool) async throws {
        for _ in 0..<Int(hangLimit * 20) {
            if try await isTrue() { return }
            try await sleep(for: .milliseconds(50))
        }
        Issue.record("never true: \(what)")
    }
}
