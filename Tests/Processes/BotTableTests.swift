import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// "Measured beside the same bot in slixmpp with MAM and SQLite": the README's bot and `Tests/Programs/mam_bot.py`, each killed again
/// and again on a Prosody. The long form is `Scripts/long bot-table 200`, and prints the table of
/// Documentation/ReliabilityMeasured.md.
@Suite(.serialized) struct BotTableTests {
    private static let environment = ProcessInfo.processInfo.environment
    private let kills = LongForm.amount("bot-table", short: 4)
    private static let isLong = LongForm.runs("bot-table")

    /// What a bot has answered.
    private struct Outcome: CustomStringConvertible {
        let name: String
        let sent: Int
        let once: Int
        let twice: Int
        let outOfOrder: Int
        let online: Int
        let kills: Int

        var description: String {
            let never = sent - once - twice
            return "| \(name) | \(sent) | \(once) | \(never) | \(twice) | \(outOfOrder) | \(online) of \(kills) |"
        }
    }

    @Test(
        "the README's bot answers each message once and in order, whenever it is killed; the same bot of slixmpp beside"
    )
    func table() async throws {
        let kalij = try await outcome("Kalij", readme)
        let other = Self.isLong ? try await outcome("slixmpp", slixmpp) : nil
        print("| bot | messages sent | answered once | never | twice | out of order | online at kills |")
        print("|---|---|---|---|---|---|---|")
        for row in [kalij, other].compactMap({ $0 }) { print(row) }
        #expect(kalij.once == kalij.sent && kalij.twice == 0 && kalij.outOfOrder == 0, "\(kalij)")
        #expect(kalij.online > 0, "\(kalij)")
    }

    // MARK: The bots

    /// The README's program, with a login by the command.
    private func readme(_ server: any XMPPServer, _ laboratory: Laboratory) throws -> Launch {
        let programs = try #require(
            Self.environment["KALIJ_EXAMPLE_APP"],
            "KALIJ_EXAMPLE_APP names the folder of the examples' programs; `make test` builds them and sets this")
        let login = try Kalij(data: laboratory.path("echo-data"))(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0, "\(login.errors)")
        // A line is to be seen before a kill, also in a file.
        var launch = Launch(executable: "/usr/bin/stdbuf")
        launch.arguments = ["-oL", programs + "/echo"]
        launch.directory = laboratory.path("")
        return launch
    }

    private func slixmpp(_ server: any XMPPServer, _ laboratory: Laboratory) -> Launch {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Programs/mam_bot.py").path
        var launch = Launch(executable: "/usr/bin/python3")
        launch.arguments = [
            script, "alice@localhost", "secret", "127.0.0.1", "\(server.port)", server.certificateAuthority,
            laboratory.path("slixmpp.db"),
        ]
        return launch
    }

    // MARK: Killing

    /// Bob writes 25 messages a second, while the bot is killed after 0.3 to 2.3 seconds each time; in the short form every second time
    /// after it is online.
    private func outcome(
        _ name: String, _ bot: (any XMPPServer, Laboratory) throws -> Launch
    ) async throws -> Outcome {
        let random = RandomChoices("bot table, \(name)")
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory)
        let launch = try bot(server, laboratory)
        let peer = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        try await peer.send(
            raw: "<message to='alice@localhost' type='chat' id='old'><body>before the bot</body></message>")
        // An archive counts whole seconds.
        try await sleep(for: .seconds(2))
        let first = try Running(launch)
        #expect(try await until { try isOnline(first) })
        _ = first.end(SIGTERM)

        let chat = try await peer.chat(with: "alice@localhost", label: "question", rate: 25)
        var online = 0
        for number in 0..<kills {
            let running = try Running(launch)
            if !Self.isLong, number % 2 == 1 { #expect(try await until { try isOnline(running) }) }
            try await sleep(for: random.milliseconds(300...2300))
            let errors = try running.errors
            let ending = running.process.ending()
            #expect(ending == nil, "\(name) has ended by itself: \(String(describing: ending)) \(errors)")
            if try isOnline(running) { online += 1 }
            _ = running.end(SIGKILL)
        }
        let running = try Running(launch)
        var sent = try await chat.stopSending()
        _ = try await until(every: 100) { try Set(self.questions(chat)).count >= sent }
        // What comes twice comes before the answer to a later question.
        sent += 1
        try chat.send(
            raw: "<message to='alice@localhost' type='chat' id='last'><body>question \(sent)</body></message>")
        _ = try await until(every: 100) { try self.questions(chat).contains(sent) }
        let questions = try self.questions(chat)
        _ = running.end(SIGTERM)
        await chat.quit()
        let pairs = zip(questions, questions.dropFirst()).filter { $0 > $1 }
        if !pairs.isEmpty { print("\(name): " + pairs.map { "\($1) after \($0)" }.joined(separator: ", ")) }
        let counts = Dictionary(questions.map { ($0, 1) }, uniquingKeysWith: +)
        return Outcome(
            name: name, sent: sent, once: counts.values.count { $0 == 1 }, twice: counts.values.count { $0 > 1 },
            outOfOrder: pairs.count, online: online, kills: kills)
    }

    private func isOnline(_ running: Running) throws -> Bool { try running.lines.contains { $0.contains("online") } }

    /// The numbers of the answered questions, in the order of the answers.
    private func questions(_ chat: Chat) throws -> [Int] {
        try chat.events().filter { $0.event == "received" }.map { event in
            try #require((event.body ?? "").split(separator: " ").last.flatMap { Int($0) })
        }
    }
}
