import Foundation
import KalijLab
import Testing

/// "`send -i` (a line a message, as `tail -f |` needs)".
@Suite(.serialized) struct LineSenderTests {
    private static let words = ["--json", "send", "bob@localhost", "-i"]

    /// Bob's own `kalij`, which has all messages of the archive.
    private func received(_ world: World) throws -> [String] {
        let bob = try Kalij(data: world.laboratory.path("bob"))
        if !FileManager.default.fileExists(atPath: bob.data) {
            #expect(try bob.login(world.server, as: "bob@localhost").status == 0)
        }
        #expect(try bob("wake").status == 0)
        return try bob("--json", "history", "--limit", "100000").objects().compactMap { $0["body"] as? String }
    }

    /// The texts that were reported as accepted.
    private func accepted(_ running: Running) throws -> [String] {
        try running.events().filter { $0["event"] as? String == "message" }.compactMap { $0["body"] as? String }
    }

    @Test("each line arrives once, in order; the end of the input ends the command", arguments: [false, true])
    func lines(besideRun: Bool) async throws {
        let world = try await World()
        defer { world.close() }
        let run = besideRun ? try world.kalij.running() : nil
        try await run?.event("caught_up")
        let texts = (0..<50).map { "line \($0)" }
        let input = texts.prefix(49).map { $0 + "\r\n" }.joined() + "\n" + texts[49]
        let sent = try world.kalij.run(Self.words + ["--confirm"], input: input)
        #expect(sent.status == 0 && sent.errors.isEmpty, "\(sent.errors)")
        #expect(try sent.objects().compactMap { $0["body"] as? String } == texts)
        #expect(try received(world) == texts)
        if let run { #expect(run.end(SIGTERM).status == 0) }
    }

    @Test("lines are sent while the input is open, with another driver too; SIGTERM ends in order")
    func open() async throws {
        let world = try await World()
        defer { world.close() }
        let sending = try world.kalij.begun(Self.words)
        func send(_ text: String) async throws {
            try sending.process.write(line: text)
            #expect(try await until { try accepted(sending).contains(text) }, "\(text)")
            #expect(
                try await until {
                    try world.kalij("--json", "history").objects().last?["state"] as? String == "acked"
                }, "\(text)")
        }
        try await send("alone")
        #expect(try world.kalij.driver() == "background")
        let run = try world.kalij.running()
        try await world.untilDriven(by: "main")
        try await send("beside run")
        #expect(run.end(SIGKILL).status == SIGKILL)
        try await world.untilDriven(by: "background")
        try await send("after run")
        #expect(sending.end(SIGTERM).status == 0)
        #expect(try await world.sql("SELECT let_go FROM fence") == "1\n")
        #expect(try received(world) == ["alone", "beside run", "after run"])
    }

    @Test("a line that is too long, or no UTF-8, or not for XML is named, and the others are sent: 65 in the end")
    func badLines() async throws {
        let world = try await World()
        defer { world.close() }
        let path = world.laboratory.path("lines")
        let long = Data(repeating: 0x78, count: 3 << 20)
        let parts = [Data("good\n".utf8), Data([0xC3, 0x28, 0x0A]), long, Data("\n\u{1B}[1m\nbetter\n".utf8)]
        try parts.reduce(Data(), +).write(to: URL(fileURLWithPath: path))
        let sent = try Pipeline(kalij: world.kalij)("--json send bob@localhost -i", "<'\(path)'")
        #expect(sent.status == 65, "\(sent.errors)")
        for line in ["line 2: not UTF-8", "line 3: longer than", "line 4: the message holds the character U+001B"] {
            #expect(sent.errors.contains("kalij: \(line)"), "\(sent.errors)")
        }
        let objects = try sent.output.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.map { $0?["line"] as? Int } == [nil, 2, 3, 4, nil])
        #expect(try received(world) == ["good", "better"])
    }

    @Test("-i goes with nothing that is for one message, and a server that is away keeps nothing from being accepted")
    func usage() async throws {
        let world = try await World()
        defer { world.close() }
        for words in [["text"], ["--file", "x"], ["--id", "x"], ["--reply", "1"]] {
            #expect(try world.kalij.run(["send", "bob@localhost", "-i"] + words).status == 64, "\(words)")
        }
        await world.server.stop()
        let sent = try world.kalij.run(Self.words, input: "one\ntwo\n")
        #expect(sent.status == 0 && sent.errors.contains("not everything is sent yet"), "\(sent)")
        #expect(try world.kalij.run(Self.words + ["--confirm"], input: "three\n").status == 69)
        try await world.server.start()
        #expect(try world.kalij("flush").status == 0)
        #expect(try received(world) == ["one", "two", "three"])
    }

    @Test("told to end before the end of the input: 75, and the last accepted line is named")
    func interrupted() async throws {
        let world = try await World()
        defer { world.close() }
        let sending = try world.kalij.begun(Self.words)
        try sending.process.write((0..<10_000).map { "\($0)\n" }.joined())
        #expect(try await until { try accepted(sending).count > 3 })
        let end = sending.end(SIGTERM)
        let count = try accepted(sending).count
        #expect(end.status == 75 && count < 10_000, "\(end)")
        #expect(try sending.errors.contains("interrupted: line \(count) is the last that was accepted"))
    }

    @Test("stopped by Ctrl-Z, another process may drive; continued, lines go on")
    func frozen() async throws {
        let world = try await World()
        defer { world.close() }
        let sending = try world.kalij.begun(Self.words)
        try sending.process.write(line: "before")
        #expect(try await until { try world.kalij.driver() == "background" })
        sending.process.signal(SIGTSTP)
        #expect(try await until { try world.kalij.driver() == nil })
        let ping = try world.kalij("ping", "localhost", "--wait", "300")
        #expect(ping.status == 0, "\(ping)")
        sending.process.signal(SIGCONT)
        try sending.process.write(line: "after")
        #expect(try await until { try accepted(sending) == ["before", "after"] })
        sending.process.closeInput()
        #expect(sending.process.ended()?.status == 0)
        #expect(try received(world) == ["before", "after"])
    }

    @Test("killed at any time: every line that was reported arrives once, in order")
    func kills() async throws {
        let world = try await World()
        defer { world.close() }
        let random = RandomChoices("send -i")
        var reported: [String] = []
        for round in 0..<6 {
            let sending = try world.kalij.begun(Self.words)
            let text = (0..<400).map { "\(round) \($0)\n" }.joined()
            try? sending.process.write(text)
            if round % 2 == 1 { #expect(try await until { try !accepted(sending).isEmpty }) }
            try await sleep(for: .milliseconds(random.number(50...1500)))
            sending.process.signal(SIGKILL)
            sending.process.ended()
            reported += try accepted(sending)
        }
        #expect(!reported.isEmpty)
        #expect(try world.kalij("flush").status == 0)
        let all = try received(world)
        #expect(Set(all).count == all.count, "none twice")
        let known = Set(reported)
        #expect(all.filter { known.contains($0) } == reported, "each, in order")
    }
}
