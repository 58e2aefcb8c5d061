import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// "An application outside the package, as a feature with a table and an answer per message, survives 200 kills at 30 to 300 ms:
/// each message counted once and answered once, in order": `Examples/CountingBot`, judged by what its correspondent got.
@Suite(.serialized) struct CountingBotTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `Scripts/long counting-bot 200` is the long form.
    private let kills = LongForm.amount("counting-bot", short: 15)

    private struct Bot {
        let executable: String
        let data: String

        func begun(_ arguments: String...) throws -> Running {
            var launch = Launch(executable: executable)
            launch.arguments = [data] + arguments
            launch.environment = ["BOT_PASSWORD": "secret"]
            return try Running(launch)
        }

        func logIn(_ server: any XMPPServer) throws {
            let login = try begun("login", "alice@localhost", "127.0.0.1:\(server.port)", server.certificateAuthority)
            let ending = login.process.ended()
            let errors = try login.errors
            #expect(ending == .exited(0), "\(errors)")
        }
    }

    private func bot(_ laboratory: Laboratory) throws -> Bot {
        Bot(
            executable: try #require(
                Self.environment["KALIJ_EXAMPLE_APP"],
                "KALIJ_EXAMPLE_APP names the folder of the examples' programs; `make test` builds them and sets this")
                + "/counting-bot",
            data: laboratory.path("alice"))
    }

    @Test(
        "killed again and again, a bot that is a feature counts and answers each message once, in order",
        arguments: LongForm.servers)
    func killed(kind: ServerKind) async throws {
        let random = RandomChoices("counting bot, \(kind)")
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let bot = try bot(laboratory)
        let peer = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        try await peer.send(
            raw: "<message to='alice@localhost' type='chat' id='old'><body>before the bot</body></message>")
        // An archive counts whole seconds.
        try await sleep(for: .seconds(2))
        try bot.logIn(server)
        try await online(bot)
        let chat = try await peer.chat(with: "alice@localhost", label: "question", rate: 25)
        var (delivering, resumed, bound) = (0, 0, 0)
        for _ in 0..<kills {
            let running = try bot.begun("run")
            try await sleep(for: random.milliseconds(30...300))
            let errors = try running.errors
            #expect(running.isRunning, "\(errors)")
            let lines = try running.lines
            if lines.contains(where: { $0.hasPrefix("in ") }) { delivering += 1 }
            if lines.contains("online again") { resumed += 1 }
            if lines.contains("online") { bound += 1 }
            _ = running.end(SIGKILL)
        }
        let sent = try await chat.stopSending()
        let running = try bot.begun("run")
        let isDone = try await until(every: 100) { try self.answers(chat).count >= sent }
        // What comes twice may come a little later; nothing marks its absence.
        try await sleep(for: .seconds(2))
        let answers = try self.answers(chat)
        let (numbers, questions) = (answers.map(\.number), answers.map(\.question))
        print(
            "counting bot: \(kind), \(kills) kills: \(resumed) after the session was resumed, \(bound) after a bind, "
                + "\(delivering) after messages were stored; \(sent) questions, \(answers.count) answers, "
                + "\(Set(questions).count) different, \(zip(questions, 1...).count { $0 != $1 }) out of place")
        #expect(isDone, "missing: \(Set(1...sent).subtracting(questions).sorted())")
        #expect(questions.sorted() == Array(1...sent), "each is answered once")
        #expect(numbers == Array(1...sent), "each is counted once, and the answers come in the order of the counting")
        // ejabberd loses messages when a session is resumed. The archive has them, later than others that came live meanwhile.
        if kind == .prosody { #expect(questions == Array(1...sent), "they are answered in their order") }
        #expect(running.end(SIGTERM).status == 0)
        await chat.quit()
    }

    /// The first session is there, and can be resumed.
    private func online(_ bot: Bot) async throws {
        let running = try bot.begun("run")
        #expect(try await until { try running.lines.contains("caught up") })
        try await Kalij(data: bot.data).untilAnswered()
        #expect(running.end(SIGTERM).status == 0)
    }

    /// What bob got: `7: question 8` is number 7, the answer to question 8.
    private func answers(_ chat: Chat) throws -> [(number: Int, question: Int)] {
        try chat.events().filter { $0.event == "received" }.map { event in
            let words = (event.body ?? "").split(separator: " ")
            try #require(words.count == 3 && words[1] == "question")
            return (try #require(Int(words[0].dropLast())), try #require(Int(words[2])))
        }
    }

    @Test("`kalij` does not go online with a bot's directory; it reads there, and what it accepts the bot sends")
    func foreignDirectory() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory)
        let bot = try bot(laboratory)
        try bot.logIn(server)
        try await online(bot)
        let kalij = try Kalij(data: bot.data)
        for command in ["run", "wake"] {
            let refused = try kalij(command)
            #expect(refused.status == 78, "\(refused.errors)")
            #expect(refused.errors.contains("org.example.counting"), "\(refused.errors)")
        }
        #expect(try kalij("status").status == 0)
        let chat = try await Peer("bob", password: "secret", server: server, laboratory: laboratory)
            .chat(with: "alice@localhost", label: "question", rate: 10, count: 1)
        let accepted = try kalij("send", "bob@localhost", "by the command")
        #expect(accepted.status == 0 && accepted.errors.contains("org.example.counting"), "\(accepted.errors)")

        let running = try bot.begun("run")
        let expected: Set = ["by the command", "1: question 1", "beside the bot"]
        #expect(try await until { try running.lines.contains("caught up") })
        let beside = try kalij("run")
        #expect(beside.status == 75 && running.isRunning, "\(beside.errors)")
        #expect(try kalij("wake").status == 0)
        #expect(try kalij("send", "bob@localhost", "beside the bot").status == 0)
        #expect(
            try await until {
                Set(try chat.events().filter { $0.event == "received" }.compactMap(\.body)) == expected
            })
        let history = try kalij("history", "bob@localhost")
        #expect(expected.allSatisfy { history.output.contains($0) }, "\(history.output)")
        #expect(running.end(SIGTERM).status == 0)
        await chat.quit()
    }
}
