import Foundation
import KalijLab
import TestSupport
import Testing

/// "At least 2,000 rounds with `main`, `wake` (several), `share`, `background` started, killed, frozen (SIGSTOP, so without
/// warning) and thawed at random on one directory with messages flowing in both directions: no step of a stale owner commits,
/// and nothing that it writes is handled twice (checked from the server's log and the database), promises 1 to 4 hold, no push
/// is left unserved, no process hangs. At least 500 rounds each freeze a driver inside a transaction, between commit and write,
/// and between fence and `<resumed/>`."
///
/// A round with a frozen process that is given up takes more than five seconds, mostly of waiting: so several
/// directories have their rounds at the same time. `Scripts/long hand-overs 2000` gives the long form (so many for each server),
/// `lanes=...` is the number of directories.
@Suite(.serialized) struct HandOverTests {
    private static let rounds = LongForm.amount("hand-overs", short: 12)
    private static let lanes = LongForm.choice("lanes").flatMap { Int($0) } ?? (rounds < 100 ? 6 : 12)

    @Test("nothing is lost or twice when the right to drive goes from hand to hand")
    func underFire() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await Self.underFire(kind) } }
            try await group.waitForAll()
        }
    }

    private static func underFire(_ kind: ServerKind) async throws {
        let start = Date()
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await makeServer(kind, in: laboratory)
        try await server.start()
        let world = HandOverWorld(
            laboratory: laboratory, server: server, freezer: try await Freezer(in: laboratory),
            executable: try Kalij(data: laboratory.path("none")).executable)
        let report = try await withThrowingTaskGroup(of: HandOverReport.self) { group in
            for number in 0..<lanes {
                group.addTask {
                    let lane = try await HandOverLane(number, in: world)
                    return try await lane.run(rounds: (rounds + lanes - 1) / lanes)
                }
            }
            return try await group.reduce(into: HandOverReport()) { $0.add($1) }
        }
        print(
            "hand-over at \(kind), \(lanes) directories, \(Int(Date().timeIntervalSince(start))) s: \(report.text)"
        )
        for violation in report.violations { Issue.record(Comment(rawValue: violation)) }
        #expect(report.rounds >= rounds)
        for point in FreezePoint.Kind.allCases { #expect(report.frozen(point) >= rounds / 6, "\(point)") }
    }
}

extension HandOverLane {
    /// So many rounds or more, until a quarter of them have frozen a driver at each kind of point. With few rounds each directory has a kind
    /// of its own. Returns the report.
    func run(rounds: Int) async throws -> HandOverReport {
        let all = FreezePoint.Kind.allCases
        let kinds = rounds < 4 ? [all[number % all.count]] : all
        while report.rounds < rounds || kinds.contains(where: { report.frozen($0) * 4 < rounds }) {
            guard report.rounds < 3 * rounds + 20 else { break }
            let rarest = random.shuffled(kinds).min { report.frozen($0) < report.frozen($1) }
            let isAimed = report.rounds % min(rounds, 5) != min(rounds, 5) - 1
            if isAimed || report.rounds >= rounds, let point = random.one(of: rarest?.points ?? []) {
                try await aimedRound(point)
            } else {
                try await randomRound()
            }
            if report.rounds % 20 == 0 { print("directory \(number): \(report.rounds) rounds, \(report.violations)") }
        }
        try await settle()
        return report
    }

    /// Ends everything; then compares the books.
    private func settle() async throws {
        let sent = try await bob.stopSending()
        beginRound()
        report.rounds -= 1
        let flush = try start("flush")
        if await flush.end() == nil { violation("the last `flush` hangs") }
        // Twice: the first run may find messages whose place the archive does not tell yet.
        for _ in 0..<2 {
            let wake = try start("wake")
            if await wake.end() == nil { violation("the last `wake` hangs") }
        }
        let main = try start("run")
        let isCaughtUp = await until { main.output.contains("\"caught_up\"") }
        if !isCaughtUp { violation("the last `run` does not catch up: \(main.errors)") }
        // Messages stored late in the archive are read five seconds after a bind.
        _ = try await until(every: 200) { try await number(of: "message WHERE direction = 'in'") >= sent }
        await endAll()
        let last = try start("wake")
        if await last.end() == nil { violation("the last `wake` hangs") }
        await endAll()
        endRound()
        try await compare(sent)
        await bob.quit()
    }

    private func number(of rows: String) async throws -> Int {
        Int(try await sql("SELECT count(*) FROM \(rows)").trimmingCharacters(in: .newlines)) ?? -1
    }

    private func bodies(_ direction: String) async throws -> [String] {
        try await sql("SELECT body FROM message WHERE direction = '\(direction)' ORDER BY position")
            .split(separator: "\n").map(String.init)
    }

    private func compare(_ sent: Int) async throws {
        report.count("received", sent)
        report.count("accepted", accepted.count)
        let alice = Peer(
            "alice\(number)", password: "secret", server: world.server, laboratory: world.laboratory)
        let archive = try await alice.archive().compactMap(\.body)
        try await compare("received", try await bodies("in"), with: archive.filter { $0.hasPrefix("m ") }, sent)
        // Accepted messages: in the database, at the server, at the recipient; once, and in order.
        try await compare("sent", try await bodies("out"), with: accepted, accepted.count)
        try await compare("archived", archive.filter { $0.hasPrefix("a ") }, with: accepted, accepted.count)
        let received = try bob.events().filter { $0.event == "received" }.compactMap(\.body)
        try await compare("at its recipient", received, with: accepted, accepted.count)
        let open = try await number(of: "message WHERE direction = 'out' AND state <> 'acked'")
        if open > 0 { violation("\(open) messages were not acknowledged") }
        try await compareNotifications()
        try await compareQuestions()
    }

    private func compare(_ what: String, _ mine: [String], with theirs: [String], _ count: Int) async throws {
        guard mine != theirs || mine.count != count else { return }
        let missing = Set(theirs).subtracting(mine).sorted().prefix(5)
        let added = Set(mine).subtracting(theirs).sorted().prefix(5)
        let twice = Dictionary(grouping: mine) { $0 }.filter { $1.count > 1 }.keys.sorted().prefix(5)
        let order = zip(mine, theirs).enumerated().first { $1.0 != $1.1 }
        violation(
            "\(what): \(mine.count) of \(theirs.count), \(count) expected; missing \(missing), not there \(added), "
                + "twice \(twice), first difference \(order.map { "\($0)" } ?? "none")")
    }

    /// "Every notification owed to the user is shown at least once": one for each message stored by a process, except
    /// the user's own.
    private func compareNotifications() async throws {
        let owed = try await sql(
            "SELECT DISTINCT s.message FROM stored s JOIN message m ON m.id = s.message WHERE s.role IN ('wake', 'background')"
        ).split(separator: "\n").compactMap { Int($0) }
        let missing = owed.filter { !shown.contains($0) }
        report.count("notifications owed", owed.count)
        if !missing.isEmpty {
            violation("\(missing.count) of \(owed.count) notifications were never shown: \(missing.prefix(5))")
        }
        let pending = try await number(of: "notification WHERE done = 0")
        if pending > 0 { violation("\(pending) notifications are still to be shown") }
    }

    /// "Every callback waiting for an answer is called or invalidated exactly once."
    private func compareQuestions() async throws {
        let wrong = try await number(
            of: "question q WHERE (SELECT count(*) FROM outcome WHERE question = q.id) <> 1")
        if wrong > 0 { violation("\(wrong) questions have no outcome, or more than one") }
        report.count("questions", try await number(of: "question"))
    }
}
