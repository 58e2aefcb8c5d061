import Foundation
import Glibc
import KalijLab
import Testing

/// "`kalij run | head -1` ends when its reader is gone instead of receiving for nobody."
@Suite(.serialized) struct RunOutputTests {
    @Test("a reader that has had enough ends `run`, in order")
    func head() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try Pipeline(kalij: world.kalij)("--json run", "| head -n 1")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("\"connecting\""))
        #expect(try await world.sql("SELECT let_go FROM fence") == "1\n")
    }

    @Test(
        "a reader that goes while there is nothing to print ends `run`, too",
        arguments: [("--json run", "| (grep -q caught_up; sleep 1)"), ("run", "| sleep 4")])
    func idle(_ arguments: String, _ reader: String) async throws {
        let world = try await World()
        defer { world.close() }
        let run = try Pipeline(kalij: world.kalij)(arguments, reader)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await world.sql("SELECT let_go FROM fence") == "1\n")
    }

    @Test("a failure to print for another reason is reported, with exit status 75")
    func full() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try Pipeline(kalij: world.kalij)("--json run", ">/dev/full")
        #expect(run.status == 75 && run.errors.contains("No space left"), "\(run.errors)")
    }

    @Test("told to end during the wait for a reader that does not read, `run` ends")
    func blocked() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let body = String(repeating: "x", count: 20_000)
        try await world.send((0..<8).map { "\($0) \(body)" })
        let ends = try makeEnds()
        defer { close(ends.reading) }
        var launch = world.kalij.launch(["--json", "run", "--since", "0"])
        launch.output = .descriptor(ends.writing)
        let process = try Subprocess(launch)
        close(ends.writing)
        // The messages are more than a pipe holds.
        let isFull = await until {
            var count: Int32 = 0
            return ioctl(ends.reading, UInt(FIONREAD), &count) == 0 && count >= 40_000
        }
        #expect(isFull && process.ending() == nil)
        process.signal(SIGTERM)
        // By itself, whether or not what was not printed is reported.
        let ending = process.ended()
        #expect(ending == .exited(0) || ending == .exited(75))
        // And nothing was lost by the end.
        let events = try await numbered(world.kalij, since: 0) {
            $0.contains { ($0["body"] as? String)?.hasPrefix("7") ?? false }
        }
        #expect(events.filter { $0["event"] as? String == "message" }.count == 8)
    }

    private func makeEnds() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        let isMade = pipe(&ends) == 0
        try #require(isMade)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// The numbered events of `run --since`, until there are enough.
    private func numbered(
        _ kalij: Kalij, since number: Int, _ isEnough: ([[String: Any]]) -> Bool
    ) async throws -> [[String: Any]] {
        let run = try kalij.begun(["--json", "run", "--since", "\(number)"])
        var events: [[String: Any]] = []
        let isDone = try await until {
            events = try run.events().filter { $0["number"] != nil }
            return isEnough(events)
        }
        let errors = try run.errors
        #expect(isDone, "\(errors)")
        #expect(run.end(SIGTERM).status == 0)
        return events
    }

    @Test("--since prints the events after a number, with any driver, and goes on without a gap and nothing twice")
    func since() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        try await world.send(["one", "two"])
        #expect(try world.kalij("wake").status == 0)
        let first = try await numbered(world.kalij, since: 0) { $0.count >= 2 }
        #expect(first.compactMap { $0["body"] as? String } == ["one", "two"])
        let last = try #require(first.last?["number"] as? Int)
        let status = try #require(try world.kalij("--json", "status").objects().first)
        #expect(status["last_event"] as? Int == last)
        #expect(try world.kalij("send", "bob@localhost", "answer").status == 0)
        try await world.send(["three"])
        let run = try world.kalij.begun(["--json", "run", "--since", "\(last)"])
        try await run.event("message") { $0["body"] as? String == "three" }
        // Frozen, and another process drives meanwhile.
        kill(run.pid, SIGTSTP)
        #expect(try await until { try world.kalij.driver() == nil })
        try await world.send(["four"])
        #expect(try world.kalij("wake").status == 0)
        kill(run.pid, SIGCONT)
        try await run.event("message") { $0["body"] as? String == "four" }
        try await world.send(["five"])
        try await run.event("message") { $0["body"] as? String == "five" }
        let numbers = try run.events().compactMap { $0["number"] as? Int }
        #expect(numbers == Array(Set(numbers)).sorted() && numbers.first ?? 0 > last)
        let came = try run.events().filter { $0["event"] as? String == "message" }.compactMap { $0["body"] as? String }
        #expect(came == ["three", "four", "five"])
        let states = try run.events().filter { $0["event"] as? String == "state" }.compactMap { $0["state"] as? String }
        #expect(states == ["queued", "sent", "acked"])
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("a number no longer kept, or never given, is refused in words, with exit status 65")
    func unknown() async throws {
        let world = try await World()
        defer { world.close() }
        let unknown = try world.kalij("--json", "run", "--since", "7")
        #expect(unknown.status == 65 && unknown.errors.contains("no event has had the number 7"))
        _ = try await world.sql(
            "UPDATE event_forgotten SET number = 5; INSERT INTO event VALUES (9, NULL, 1, 'message', 0)")
        let forgotten = try world.kalij("--json", "run", "--since", "4")
        #expect(forgotten.status == 65 && forgotten.errors.contains("events up to 5 are kept no longer"))
        #expect(try world.kalij("run", "--since", "9").status == 64)
    }

    @Test("a `send` with its own id is sent once, and answered with the message in its present state")
    func ownID() async throws {
        let world = try await World()
        defer { world.close() }
        let command = #"{"command":"send","to":"bob@localhost","body":"hi","origin_id":"answer-1","id":"#
        let run = try world.kalij.running()
        try await run.event("caught_up")
        try run.process.write(line: command + "1}")
        try await run.event("state") { $0["state"] as? String == "acked" }
        try run.process.write(line: command + "2}")
        let again = try await run.event("accepted") { $0["id"] as? Int == 2 }
        let message = try #require(again["message"] as? [String: Any])
        #expect(message["state"] as? String == "acked" && message["origin_id"] as? String == "answer-1")
        #expect(run.end(SIGTERM).status == 0)
        let sent = try world.kalij("--json", "send", "bob@localhost", "hi", "--id", "answer-1")
        #expect(try sent.objects().first?["state"] as? String == "acked")
        #expect(try world.kalij("--json", "history").lines.count == 1)
        #expect(try world.kalij("send", "bob@localhost", "hi", "--id", "a b").status == 65)
    }

    @Test("a command half read at the notice of a freeze is done when the rest comes")
    func halfRead() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let command = #"{"command":"send","to":"bob@localhost","body":"in two pieces","id":7}"#
        try run.process.write("{\"id\":6}\n" + command.prefix(30))
        // What is answered was read together with the piece.
        try await run.event("error") { $0["id"] as? Int == 6 }
        kill(run.pid, SIGTSTP)
        #expect(try await until { try world.kalij.driver() == nil })
        kill(run.pid, SIGCONT)
        try await world.untilDriven(by: "main")
        try run.process.write(line: String(command.dropFirst(30)))
        let accepted = try await run.event("accepted")
        #expect(accepted["id"] as? Int == 7)
        try run.process.write(#"{"command":"send","to":"bob@localhost","body":"without a line feed","id":8}"#)
        run.process.closeInput()
        try await run.event("accepted") { $0["id"] as? Int == 8 }
        #expect(run.end(SIGTERM).status == 0)
    }
}
