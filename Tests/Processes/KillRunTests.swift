import Foundation
import KalijLab
import TestSupport
import Testing

/// "lost, twice and out of order are 0" under SIGKILL at random moments, against real servers. `Scripts/long kill-run 25` has more kills,
/// lost sessions, and servers without an archive.
@Suite(.serialized) struct KillRunTests {
    @Test("nothing is lost, twice or out of order when kalij is killed", arguments: LongForm.servers)
    func kills(server kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        var options = KillOptions(kalij: try kalijBinary(), server: kind)
        options.kills = LongForm.amount("kill-run", short: 8)
        options.messages = LongForm.amount("kill-run", short: 60)
        options.seed = 20
        // The order of ejabberd's archive is known 140 messages later: on a busy machine that is a second at the usual rate.
        options.rate = 15
        let (result, rounds) = try await KillRun.prepare(options, laboratory: laboratory).run()
        let round = try #require(rounds.first)
        let table = result.table().joined(separator: "\n")
        #expect(result.isClean, "\(table)")
        #expect(result.kills >= options.kills)
        #expect(result.incoming.expected >= options.messages && result.outgoing.expected >= options.messages)
        #expect(result.startsResumed > 0, "sessions survive the kills: \(table)")
        print(table)
        try await oracleFails(on: round.evidence, data: round.data, laboratory: laboratory)
    }

    /// "Including ... failed resumes (sessions expired, server restarted with SIGTERM, the queue limit exceeded)", "over
    /// fresh accounts", "with the network cut by the test's proxy". In numbers: `kalij demo --failed-resumes 14 --cuts 10`.
    @Test(
        "nor when sessions cannot be resumed, connections are cut and accounts are new",
        .enabled(if: LongForm.runs("kill-run")))
    func failedResumes() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        var options = KillOptions(kalij: try kalijBinary(), server: .prosody)
        options.kills = 12
        options.messages = 80
        options.messagesPerAccount = 400
        options.seed = 21
        options.failedResumes = 0.5
        options.cuts = 0.3
        options.lifetime = 150...900
        let (result, rounds) = try await KillRun.prepare(options, laboratory: laboratory).run()
        let table = result.table().joined(separator: "\n")
        print(table)
        #expect(result.isClean, "\(table)")
        #expect(rounds.count > 1 && result.accounts == rounds.count)
        // A session with a slow overrun of its queue expires before.
        #expect(result.losses.restarted > 0 && result.losses.expired + result.losses.queueLimit > 0, "\(table)")
        #expect(result.serverRestarts > 0 && result.cuts.total > 0)
        #expect(result.bound >= result.losses.total)
    }

    /// An attack: with such archives messages were sent twice. The judge is the recipient.
    @Test(
        "nor where the archive keeps none of the messages: each message reaches its recipient once, or is reported",
        .enabled(if: LongForm.runs("kill-run")),
        arguments: [(ServerKind.prosody, ArchivePolicy.roster), (.ejabberd, .never)])
    func unarchived(_ kind: ServerKind, _ archive: ArchivePolicy) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        var options = KillOptions(kalij: try kalijBinary(), server: kind)
        options.archive = archive
        options.kills = 12
        options.messages = 60
        options.seed = 22
        options.failedResumes = 0.3
        let (result, _) = try await KillRun.prepare(options, laboratory: laboratory).run()
        let table = result.table().joined(separator: "\n")
        print(table)
        #expect(result.isClean, "\(table)")
        #expect(result.losses.total > 0 && result.losses.restarted == 0, "\(table)")
    }

    /// The same comparison, on copies of the database with one fault each.
    private func oracleFails(on evidence: Evidence, data: String, laboratory: Laboratory) async throws {
        let some = "(SELECT id FROM message WHERE direction = 'in' ORDER BY position LIMIT 1 OFFSET 40)"
        let next = "(SELECT id FROM message WHERE direction = 'in' ORDER BY position LIMIT 1 OFFSET 41)"
        let columns = "account, direction, position, body"
        #expect(try await verdict("SELECT 1", evidence, data, laboratory).isClean, "the copy itself is faithful")
        let lost = try await verdict("DELETE FROM message WHERE id = \(some)", evidence, data, laboratory)
        #expect(lost.lost == 1 && !lost.isClean)
        let twice = try await verdict(
            """
            INSERT INTO message(id, \(columns)) SELECT 99999999, \(columns) FROM message WHERE id = \(some)
            """, evidence, data, laboratory)
        #expect(twice.twice == 1 && !twice.isClean)
        let swapped = try await verdict(
            """
            CREATE TEMP TABLE pair AS SELECT id, body FROM message WHERE id IN (\(some), \(next));
            UPDATE message SET body = (SELECT body FROM pair WHERE pair.id <> message.id) WHERE id IN (SELECT id FROM pair)
            """, evidence, data, laboratory)
        #expect(swapped.outOfOrder == 1 && !swapped.isClean)
        let invented = try await verdict(
            "UPDATE message SET body = 'm 12345678' WHERE id = \(some)", evidence, data, laboratory)
        #expect(invented.invented == 1 && invented.lost == 1 && !invented.isClean)
    }

    private func verdict(
        _ damage: String, _ evidence: Evidence, _ data: String, _ laboratory: Laboratory
    ) async throws -> DirectionVerdict {
        let copy = laboratory.path("copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        try await laboratory.run("/usr/bin/sqlite3", ["\(data)/kalij.db", ".backup '\(copy)/kalij.db'"])
        // Copies are for damaging: changes forbidden by Kalij's own schema must be possible here.
        let unprotected = """
            PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
            CREATE TABLE plain AS SELECT * FROM message;
            DROP TABLE message; ALTER TABLE plain RENAME TO message;
            """
        try await laboratory.run("/usr/bin/sqlite3", ["-bail", "\(copy)/kalij.db", unprotected + damage])
        var evidence = evidence
        evidence.received = try await RawTable(laboratory: laboratory, data: copy).messages("in")
        return evidence.incoming()
    }
}

/// The binary under test: `KALIJ_BINARY`, or the binary built together with these tests.
func kalijBinary() throws -> String {
    if let path = ProcessInfo.processInfo.environment["KALIJ_BINARY"] { return path }
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var folder = URL(fileURLWithPath: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? tests)
    folder.deleteLastPathComponent()
    return folder.appendingPathComponent("kalij").path
}
