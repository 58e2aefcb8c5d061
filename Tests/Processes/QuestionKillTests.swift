import Foundation
import KalijLab
import Synchronization
import TestSupport
import Testing

/// "500 IQs sent by processes that are killed at random before, while and after the answer arrives; each handler's effect
/// is in the database exactly once, none is missing, none waits forever; the answering peer is independent (slixmpp),
/// delays 0 to 5 s, and its log is compared; all whose session was resumed end by reply, not by invalidation."
///
/// `Scripts/long question-kills 500` is the full length, for each server.
@Suite(.serialized) struct QuestionKillTests {
    private static let questions = LongForm.amount("question-kills", short: 24)

    @Test("every question has its answer, once, when kalij is killed between the two")
    func kills() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await Self.kills(kind) } }
            try await group.waitForAll()
        }
    }

    private static func kills(_ kind: ServerKind) async throws {
        let begin = ContinuousClock.now
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory)
        let kalij = try Kalij(data: laboratory.path("alice"))
        #expect(try kalij.login(server).status == 0)
        let world = Asking(laboratory: laboratory, executable: kalij.executable, data: kalij.data)
        try await world.recordEffects()
        let peer = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let answering = try await peer.answering(resource: "peer", delay: 0...5)

        let driver = Task { try await world.killDrivers() }
        try await world.ask(questions)
        driver.cancel()
        let kills = try await driver.value

        let last = try kalij.running()
        #expect(try await until(every: 100) { try await world.number("SELECT count(*) FROM request") == 0 })
        #expect(last.end(SIGTERM).status == 0)
        let log = try answering.events()
        let outcomes = try await world.compare(with: log, atLeast: questions)
        let lost = try await world.number("SELECT number FROM session") - 1
        print(
            """
            questions at \(kind): \(outcomes) in \(begin.duration(to: .now).components.seconds) s; \(kills) kills of run, \
            \(world.askerKills) of iq, \(lost) sessions lost
            """)
        #expect(kills > 0 && world.askerKills > 0)
        let left = try kalij("pending")
        #expect(left.status == 1, "\(left.output)")
        let results = try kalij("--json", "pending", "--results")
        #expect(results.lines.count == (try await world.number("SELECT count(*) FROM question")))
        await answering.quit()
    }
}

/// The database, and the processes to kill.
private final class Asking: Sendable {
    let laboratory: Laboratory
    let executable: String
    let data: String
    private let killed = Mutex(0)
    private let random = RandomChoices("questions")

    init(laboratory: Laboratory, executable: String, data: String) {
        (self.laboratory, self.executable, self.data) = (laboratory, executable, data)
    }

    var askerKills: Int { killed.withLock { $0 } }

    private func sql(_ text: String, _ options: [String] = ["-readonly"]) async throws -> String {
        try await laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000"] + options + [data + "/kalij.db", text])
    }

    func number(_ query: String) async throws -> Int {
        let text = try await sql(query)
        return try #require(Int(text.trimmingCharacters(in: .newlines)))
    }

    /// Each effect of a handler leaves a line without any of Kalij's code, and each sent request a line with its
    /// session.
    func recordEffects() async throws {
        _ = try await sql(
            """
            CREATE TABLE effect(question, outcome);
            CREATE TRIGGER effects AFTER UPDATE OF outcome ON question
                BEGIN INSERT INTO effect VALUES (new.id, new.outcome); END;
            CREATE TABLE departure(request, session);
            CREATE TRIGGER departures AFTER UPDATE OF sent ON request
                BEGIN INSERT INTO departure SELECT new.id, number FROM session; END;
            """, [])
    }

    private func start(_ arguments: [String]) throws -> Subprocess {
        var launch = laboratory.launch(executable, ["--data", data] + arguments)
        launch.directory = nil
        launch.errors = .file(laboratory.path("errors"))
        return try Subprocess(launch, writable: true)
    }

    /// Starts `kalij run` and kills the process, again and again, with pauses for other drivers.
    /// - Returns: how often.
    func killDrivers() async throws -> Int {
        var kills = 0
        while !Task.isCancelled {
            let process = try start(["run"])
            try? await sleep(for: random.milliseconds(50...1500))
            process.signal(SIGKILL)
            process.ended()
            kills += 1
            if random.flip() { try? await sleep(for: random.milliseconds(0...1000)) }
        }
        return kills
    }

    /// Asks until `count` questions were accepted, up to 16 at a time; most asking processes are killed: before the
    /// question is accepted, before the answer, or at about that time.
    func ask(_ count: Int) async throws {
        var next = 0
        while try await number("SELECT count(*) FROM question") < count {
            try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    next += 1
                    let number = next
                    group.addTask { try await self.ask(number: number) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func ask(number: Int) async throws {
        let question = "<question xmlns='urn:example:question' number='\(number)'/>"
        let process = try start(["iq", "bob@localhost/peer", question, "--wait", "600"])
        let patiences: [Double] = [0.05, 0.5, 3, 6]
        let patience: Double = random.one(of: patiences) ?? 1
        guard await process.wait(seconds: random.number(0...patience)) == nil else { return }
        process.signal(SIGKILL)
        process.ended()
        killed.withLock { $0 += 1 }
    }

    /// Compares the rows with the peer's log.
    /// - Returns: the result, for people.
    func compare(with log: [PeerEvent], atLeast expected: Int) async throws -> String {
        let rows = try await sql(
            """
            SELECT q.request, coalesce(q.outcome, '-'), coalesce(q.answer, '-'),
                (SELECT count(*) FROM effect e WHERE e.question = q.id),
                coalesce((SELECT max(d.session) FROM departure d WHERE d.request = q.request), 0)
            FROM question q ORDER BY q.id
            """, ["-readonly", "-separator", "\t"]
        ).split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        let asked = Dictionary(grouping: log.filter { $0.event == "asked" }, by: { $0.id ?? "" })
        let last = try await number("SELECT number FROM session")
        var outcomes: [String: Int] = [:]
        for row in rows {
            try #require(row.count == 5)
            outcomes[row[1], default: 0] += 1
            #expect(row[3] == "1", "the effect of \(row[0]) is there \(row[3]) times")
            guard row[1] == "result" else {
                // "All whose session was resumed end by reply, not by invalidation."
                let session = try #require(Int(row[4]))
                #expect(row[1] == "invalidated" && 0 < session && session < last, "\(row[0]) ended by \(row[1])")
                #expect((asked[row[0]]?.count ?? 0) <= 1)
                continue
            }
            #expect(asked[row[0]]?.count == 1, "\(row[0]) reached the peer once")
            let number = try #require(asked[row[0]]?.first?.number)
            #expect(row[2].contains("number=\"\(number)\"") || row[2].contains("number='\(number)'"))
        }
        #expect(Set(asked.keys).subtracting(rows.map { $0[0] }).isEmpty, "nothing was asked that is not stored")
        #expect(rows.count >= expected)
        let (seen, answered) = (asked.values.reduce(0) { $0 + $1.count }, log.count { $0.event == "answered" })
        return """
            \(rows.count) accepted, outcomes \(outcomes), \(rows.count { $0[3] == "1" }) with their effect once; \
            the peer saw \(seen) and answered \(answered)
            """
    }
}
