import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// "A bot killed in between neither misses nor doubles anything": the bot reads `run --json --since N`, answers each
/// message with a `send` with an id made from the message, and stores N in its own file.
@Suite(.serialized) struct BotKillTests {
    /// `Scripts/long bot-kills 500` is the long form.
    private let kills = LongForm.amount("bot-kills", short: 18)

    @Test("a bot is killed again and again, alone or with its `run`: the other side has each answer exactly once")
    func killed() async throws {
        let random = RandomChoices("bot")
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let peer = Peer("bob", password: "secret", server: world.server, laboratory: world.laboratory)
        let chat = try await peer.chat(with: "alice@localhost", label: "question", rate: 25)
        let runs = world.laboratory.path("runs")
        var (alone, together, runAlone) = (0, 0, 0)
        for number in 0..<kills {
            let bot = try start(world, runs)
            try await sleep(for: random.milliseconds(30...900))
            #expect(
                bot.ending() == nil,
                "\((try? String(contentsOfFile: world.laboratory.path("bot.err"), encoding: .utf8)) ?? "")")
            switch number < 3 ? number : random.number(0...2) {
            case 0:
                // The bot's `run` goes by itself, when nobody reads its output any more.
                alone += 1
                kill(bot.pid, SIGKILL)
            case 1:
                together += 1
                bot.signal(SIGKILL)
            default:
                // The bot starts another `run`.
                runAlone += 1
                if let pid = try lastRun(runs) { kill(pid, SIGKILL) }
                try await sleep(for: random.milliseconds(30...500))
                bot.signal(SIGKILL)
            }
            bot.ended()
        }
        var sent = try await chat.stopSending()
        let bot = try start(world, runs)
        defer { bot.signal(SIGKILL) }
        func expected() -> [String] { (1...sent).map { "answer to question \($0)" } }
        var answers: [String] = []
        let isDone = try await until(every: 100) {
            answers = try chat.events().filter { $0.event == "received" }.compactMap(\.body)
            return Set(answers).isSuperset(of: expected())
        }
        let missing = Set(expected()).subtracting(answers).sorted()
        // A second copy comes before the answer to a later question.
        sent += 1
        try chat.send(
            raw: "<message to='alice@localhost' type='chat' id='last'><body>question \(sent)</body></message>")
        let isLast = try await until(every: 100) {
            try chat.events().contains { $0.event == "received" && $0.body == "answer to question \(sent)" }
        }
        #expect(isLast)
        answers = try chat.events().filter { $0.event == "received" }.compactMap(\.body)
        print(
            "bot: \(kills) kills (\(alone) of the bot alone, \(together) of both, \(runAlone) of its run); \(sent) questions"
        )
        #expect(isDone, "missing: \(missing)")
        #expect(answers.sorted() == expected().sorted())
        await chat.quit()
    }

    private func start(_ world: World, _ runs: String) throws -> Subprocess {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/bot.py").path
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [script, world.kalij.executable, world.kalij.data, world.laboratory.path("number"), runs])
        launch.errors = .file(world.laboratory.path("bot.err"))
        return try Subprocess(launch)
    }

    private func lastRun(_ runs: String) throws -> pid_t? {
        (try? String(contentsOfFile: runs, encoding: .utf8))?.split(separator: "\n").last.flatMap { pid_t($0) }
    }
}
