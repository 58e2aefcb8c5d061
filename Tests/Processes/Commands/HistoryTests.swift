import Foundation
import KalijLab
import TestSupport
import Testing

/// Older history on demand, from real servers' archives.
@Suite(.serialized) struct HistoryTests {
    private func bodies(_ outcome: Kalij.Outcome) throws -> [String] {
        try outcome.objects().compactMap { $0["body"] as? String }
    }

    private func gaps(_ outcome: Kalij.Outcome) throws -> [String] {
        try outcome.objects().filter { $0["event"] as? String == "gap" }.compactMap { $0["reason"] as? String }
    }

    /// A server with `count` messages from bob to alice in its archive.
    private func archived(_ count: Int, on kind: ServerKind) async throws -> (Laboratory, any XMPPServer, [String]) {
        let laboratory = try Laboratory()
        let server = try await startedServer(kind, in: laboratory)
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let sent = (1...count).map { "message \($0)" }
        // A first message to show that the archive works: ejabberd loses messages from before the start of its
        // database.
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        var first = 0
        _ = try await until {
            try await bob.send(raw: Self.stanza(0, sent[0]))
            first = try await alice.archive().count
            return first > 0
        }
        try await bob.send(raw: sent.enumerated().dropFirst().map { Self.stanza($0, $1) }.joined())
        #expect(try await until { try await alice.archive().count >= first + count - 1 })
        return (laboratory, server, Array(repeating: sent[0], count: first) + sent.dropFirst())
    }

    private static func stanza(_ number: Int, _ body: String) -> String {
        "<message to='alice@localhost' type='chat' id='m\(number)'><body>\(body)</body></message>"
    }

    @Test(
        "the first login looks back as far as told; older messages are fetched page by page, with a driver and without",
        arguments: LongForm.servers)
    func older(kind: ServerKind) async throws {
        let (laboratory, server, sent) = try await archived(250, on: kind)
        defer { laboratory.close() }
        // Archives are asked by the second.
        try await sleep(for: .seconds(2))
        let kalij = try Kalij(data: laboratory.path("data"))
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            "--history-days", "0", environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0)

        let run = try kalij.running()
        try await run.event("caught_up")
        let first = try kalij("--json", "history")
        #expect(first.status == 1, "nothing is stored")
        #expect(try gaps(first) == ["not-fetched"])

        let some = try kalij("--json", "history", "--older", "120", "--limit", "1000")
        #expect(some.status == 0, "\(some.errors)")
        let fetched = try bodies(some)
        #expect(fetched.count >= 120 && fetched.count < 250)
        #expect(fetched == Array(sent.suffix(fetched.count)))
        #expect(try gaps(some) == ["not-fetched"])
        #expect(run.end(SIGKILL).status == SIGKILL)

        let all = try kalij("--json", "history", "--older", "1000", "--limit", "1000")
        #expect(all.status == 0, "\(all.errors)")
        #expect(try bodies(all) == sent)
        #expect(try gaps(all).isEmpty)
        #expect(try kalij("history", "--older", "5").errors.contains("0 older messages fetched"))
    }

    /// "a cursor that an application can keep"
    @Test("`history --after` prints each message once, as JSON and plain, over kills; errors name the option")
    func after() async throws {
        let (laboratory, server, sent) = try await archived(5, on: .prosody)
        defer { laboratory.close() }
        let kalij = try Kalij(data: laboratory.path("data"))
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0)
        #expect(try kalij("history", "--after", "0").status == 1)
        let run = try kalij.running()
        try await run.event("caught_up")
        #expect(run.end(SIGKILL).status == SIGKILL)

        var (seen, place): ([String], Int) = ([], 0)
        for _ in 0..<3 {
            let page = try kalij("--json", "history", "--after", "\(place)", "--limit", "2")
            #expect(page.status == 0, "\(page.errors)")
            seen += try bodies(page)
            place = try #require(page.objects().last?["id"] as? Int)
        }
        #expect(seen == sent)
        let none = try kalij("--json", "history", "--after", "\(place)")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(try kalij("send", "--queue-only", "bob@localhost", "answer").status == 0)
        let again = try kalij.running()
        try await again.event("caught_up")
        #expect(
            try await until {
                try kalij("history", "bob@localhost", "--after", "\(place)").output.contains("answer")
            })
        let plain = try kalij("history", "bob@localhost", "--after", "\(place)")
        // Beside the day.
        #expect(plain.output.split(separator: "\n").count { !$0.hasPrefix("---") } == 1, "\(plain.output)")
        #expect(again.end(SIGTERM).status == 0)

        let unknown = try kalij("history", "--after", "9999999")
        #expect(unknown.status == 65 && unknown.errors.contains("--after: no message has had the id 9999999"))
        let wrong = try kalij("history", "--after", "-1")
        #expect(wrong.status == 64 && wrong.errors.contains("--after"), "\(wrong.errors)")
    }

    /// "interruptible anywhere, resumable by another process"
    @Test(
        "a catch-up and a fetching whose processes are killed again and again miss nothing and store nothing twice",
        arguments: LongForm.servers)
    func killed(kind: ServerKind) async throws {
        let (laboratory, server, sent) = try await archived(400, on: kind)
        defer { laboratory.close() }
        let kalij = try Kalij(data: laboratory.path("data"))
        #expect(try kalij.login(server).status == 0)
        let kills = try await killed({ try kalij.running() }) { run in
            try run.events().contains { $0["event"] as? String == "caught_up" }
        }
        #expect(kills > 0)
        let all = try kalij("--json", "history", "--limit", "10000")
        #expect(try bodies(all) == sent)
        #expect(try gaps(all).filter { $0 != "not-fetched" }.isEmpty)

        let late = try Kalij(data: laboratory.path("late"))
        let login = try late(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            "--history-days", "0", environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0)
        let fetchKills = try await killed({ try late.begun(["history", "--older", "10000"]) }) { !$0.isRunning }
        #expect(fetchKills > 0)
        let filled = try late("--json", "history", "--limit", "10000")
        #expect(try bodies(filled) == sent)
        #expect(try gaps(filled).isEmpty)
    }

    /// Starts a process and kills it, until a process has reached `isEnough`; returns how many were killed. The last process lives as
    /// long as it takes, on the slowest machine.
    private func killed(_ begin: () throws -> Running, until isEnough: (Running) throws -> Bool) async throws -> Int {
        let random = RandomChoices("history")
        for kills in 0..<25 {
            let run = try begin()
            try await sleep(for: .milliseconds(random.number(20...100) + 15 * kills))
            let isDone = try isEnough(run)
            _ = run.end(isDone ? SIGTERM : SIGKILL)
            if isDone { return kills }
        }
        let last = try begin()
        let isDone = try await until(every: 50) { try isEnough(last) }
        let said = try last.lines.suffix(5) + [last.errors]
        #expect(isDone, "\(said)")
        _ = last.end(SIGTERM)
        return 25
    }
}
