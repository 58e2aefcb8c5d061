import Foundation
import KalijLab
import Testing

/// What newcomers at a shell meet: local times, output that cannot be written, ids of their own, defaults in a file.
@Suite(.serialized) struct FirstDayTests {
    private static let zone = "Asia/Kolkata"

    /// The day and the time of `text`, a time of XEP-0082, on the clock of `zone`.
    private func local(_ text: Any?, in zone: String) throws -> (day: String, time: String) {
        let reader = ISO8601DateFormatter()
        reader.formatOptions = [.withInternetDateTime]
        let whole = try #require(text as? String).replacing(/\.\d+Z/, with: "Z")
        let date = try #require(reader.date(from: whole))
        let writer = DateFormatter()
        writer.locale = Locale(identifier: "en_US_POSIX")
        writer.timeZone = TimeZone(identifier: zone)
        writer.dateFormat = "EEEE, yyyy-MM-dd"
        let day = writer.string(from: date)
        writer.dateFormat = "HH:mm:ss"
        return (day, writer.string(from: date))
    }

    @Test("history, search, chats and run print local times, the date once a day; --utc prints UTC")
    func times() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try Running(world.kalij.launch(["run"], environment: ["TZ": Self.zone]))
        try await world.untilDriven(by: "main")
        try await world.send(["one", "two", "three"])
        #expect(try await until { try run.output.contains("three") })
        let live = try run.lines
        #expect(run.end(SIGTERM).status == 0)
        // The first is of another day, everywhere.
        _ = try await world.sql("UPDATE message SET sent_at = sent_at - 2 * 86400000 WHERE body = 'one'")
        let sent = try world.kalij("--json", "history").objects().map { $0["sent_at"] }
        #expect(try #require(sent.first as? String).hasSuffix("Z") && sent.count == 3)
        let second = try local(sent[1], in: Self.zone)
        #expect(live.count == 4 && live[0] == "--- \(second.day)", "\(live)")
        #expect(live[2].hasPrefix("\(second.time) alice@localhost: from bob@localhost"), "\(live)")
        for (zone, options, mark) in [(Self.zone, [String](), ""), ("UTC", ["--utc"], " (UTC)")] {
            func lines(_ words: String...) throws -> [String] {
                try world.kalij.run(options + words, environment: ["TZ": Self.zone]).lines
            }
            let times = try sent.map { try local($0, in: zone) }
            let history = try lines("history")
            #expect(history.count == 5, "\(history)")
            #expect(history[0] == "--- \(times[0].day)\(mark)", "\(history)")
            #expect(history[2] == "--- \(times[1].day)\(mark)", "\(history)")
            #expect(history[1].hasPrefix("\(times[0].time) from bob@localhost") && history[1].hasSuffix(": one"))
            #expect(history[4].hasPrefix("\(times[2].time) from bob@localhost") && history[4].hasSuffix(": three"))
            #expect(try lines("search", "two").first == "--- \(times[1].day)\(mark)")
            let chat = try #require(try lines("chats").first)
            #expect(chat.contains(mark.isEmpty ? " \(times[2].time) from" : "T\(times[2].time)"), "\(chat)")
        }
    }

    @Test("commands that read fail with 75 when their output is lost; accepted is accepted; a closed pipe is quiet")
    func lostOutput() async throws {
        let world = try await World()
        defer { world.close() }
        let pipeline = Pipeline(kalij: world.kalij)
        for words in [
            "send bob@localhost one", "--json send bob@localhost two", "--json add bob@localhost --queue-only",
        ] {
            let run = try pipeline(words, ">/dev/full")
            #expect(run.status == 0, "\(words): \(run.errors)")
            #expect(run.errors.contains("the output is lost") && run.errors.contains("No space left"), "\(run.errors)")
        }
        #expect(try await until { try world.kalij("search", "two").status == 0 })
        let reading = [
            "history", "--json history", "chats", "status", "--json status", "search one", "settings", "--help",
        ]
        for words in reading {
            let full = try pipeline(words, ">/dev/full")
            #expect(full.status == 75, "\(words): \(full)")
            #expect(full.errors == "kalij: standard output: No space left on device\n", "\(words)")
            let closed = try pipeline(words, ">&-")
            #expect(closed.status == 75 && closed.errors.contains("Bad file descriptor"), "\(words): \(closed)")
            let gone = try pipeline(words, "| head -n 1")
            #expect(gone.status == 0 && gone.errors.isEmpty && !gone.output.isEmpty, "\(words): \(gone)")
            let unread = try pipeline(words, "| true")
            #expect(unread.status == 0 && unread.errors.isEmpty, "\(words): \(unread)")
        }
        #expect(try world.kalij("--json", "history").objects().compactMap { $0["body"] as? String } == ["one", "two"])
    }

    @Test("any JSON value is an id, and comes back with answers and errors; errors name keys, not options")
    func ids() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let ids = ["\"a-1\"", "7", "18446744073709551615", "0.5", "true", "null", "[1,\"x\"]", "{\"n\":{\"deep\":[]}}"]
        for id in ids {
            try run.process.write(line: #"{"command":"send","to":"bob@localhost","body":"hi","id":\#(id)}"#)
            try run.process.write(line: #"{"id":\#(id),"command":"send","to":7}"#)
        }
        func raw(_ event: String) throws -> [String] {
            try run.lines.filter { $0.contains("\"event\":\"\(event)\"") && $0.contains("\"id\"") }
        }
        #expect(try await until { try raw("error").count == ids.count })
        for event in ["accepted", "error"] {
            for (line, id) in zip(try raw(event), ids) { #expect(line.contains("\"id\":\(id),"), "\(line)") }
        }
        let wrong = [
            (#"{"command":"send","to":"@x","body":"hi","id":1}"#, "`to` is not an address: "),
            (#"{"command":"send","to":"a@b","body":"hi","account":"a b@","id":1}"#, "`account` is not an address: "),
            (#"{"command":"send","to":"a@b","body":"hi","account":"a@b","id":1}"#, "`account`: a@b is not among"),
            (#"{"command":"send","to":"bob@localhost","body":"","id":1}"#, "`body`: the message is empty"),
            (#"{"command":"send","to":"a@b","body":"hi","origin_id":"a b","id":1}"#, "`origin_id`: an id has"),
            (#"{"command":"send","to":"bob@localhost","body":"hi","reply":999,"id":1}"#, "`reply`: the message"),
            (#"{"command":"send","to":7,"body":"hi","id":1}"#, "no command: `to` has the wrong type"),
            (#"{"command":"send","to":"bob@localhost","file":"/none","id":1}"#, "`file`: "),
            (#"{"command":"add","contact":"@x","id":1}"#, "`contact` is not an address: "),
            (#"{"command":"read","id":1}"#, "no command: `conversation` is missing"),
            (#"{"id":1}"#, "no command: `command` is missing"), ("[1]", "no command: it is not a JSON object"),
            ("{", "no command: it is not valid JSON"), (#"{"id":1e999}"#, "no command: `id` "),
        ]
        for (command, message) in wrong {
            let before = try run.events().count { $0["event"] as? String == "error" }
            try run.process.write(line: command)
            let isAnswered = try await until {
                try run.events().count { $0["event"] as? String == "error" } > before
            }
            #expect(isAnswered, "\(command)")
            let error = try #require(try run.events().last { $0["event"] as? String == "error" })
            let reason = error["reason"] as? String ?? ""
            #expect(reason.hasPrefix(message) && !reason.contains("--"), "\(command): \(reason)")
            if command.contains("\"id\":1,") || command.contains("\"id\":1}") { #expect(error["id"] as? Int == 1) }
        }
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("defaults come from a file; a bad line is 78 with its number, but not for help")
    func defaults() async throws {
        let world = try await World()
        defer { world.close() }
        let home = world.laboratory.path("home")
        let file = home + "/.config/kalij/config"
        try FileManager.default.createDirectory(atPath: home + "/.config/kalij", withIntermediateDirectories: true)
        func kalij(_ words: String..., home variables: [String: String]? = nil) throws -> Kalij.Outcome {
            var launch = world.kalij.launch([], environment: variables ?? ["HOME": home])
            launch.arguments = words
            let running = try Running(launch)
            running.process.closeInput()
            let status = running.process.ended()?.status ?? -1
            return Kalij.Outcome(status: status, output: try running.output, errors: try running.errors)
        }
        func write(_ text: String, to path: String) throws {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        try write("# alice\n--data \(world.kalij.data)\n--json\n--limit 1\n", to: file)
        #expect(try kalij("status").objects().first?["directory"] as? String == world.kalij.data)
        #expect(try kalij("status", "--data", home).status == 78, "the command line wins")
        #expect(try kalij("status", home: ["XDG_CONFIG_HOME": home + "/.config"]).status == 0)
        let other = world.laboratory.path("other")
        try write("--data \(world.kalij.data)\n\n--jsn\n", to: other)
        let bad = try kalij("status", "--config", other)
        #expect(bad.status == 78 && bad.errors == "kalij: \(other):3: unknown option --jsn\n", "\(bad)")
        #expect(try kalij("--config", other, "status", "--help").status == 0)
        let missing = try kalij("--config", other + ".none", "status")
        #expect(missing.status == 78 && missing.errors.contains("other.none: No such file"), "\(missing)")
        let none = try kalij("--config", "/dev/null", "--data", world.kalij.data, "status")
        #expect(none.status == 0 && none.output.hasPrefix("directory: "), "\(none)")
        for hostile in ["/dev/zero", home] {
            #expect(try kalij("--config", hostile, "status").status == 78, "\(hostile)")
        }
    }
}
