import Foundation
import KalijLab
import TestSupport
import Testing

/// "The whole wake run, from exec to exit, with 1 waiting message on a loopback server: peak resident memory at most 24 MB; with
/// 5,000 waiting messages at most 28 MB."
///
/// The resident memory has parts of files, as many as the system happens to keep: what the process itself has is judged.
/// `Scripts/long wake-memory 5000` judges all resident memory, and has so many messages wait.
@Suite(.serialized) struct WakeMemoryTests {
    @Test("a wake run stays within its memory")
    func memory() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        for (waiting, megabytes) in [(1, 24), (LongForm.amount("wake-memory", short: 600), 28)] {
            let bob = try await world.peer("bob").chat(with: "alice@localhost", label: "m", rate: 0, count: waiting)
            try await bob.finished()
            await bob.quit()
            let wake = try await Wake(world, "\(waiting) waiting", atMost: megabytes)
            #expect(wake.shown == waiting)
        }
    }

    /// 100 owed notifications of 200 kB once took 37 MB.
    @Test("nor do long messages take more: a hundred owed notifications of 200 kB")
    func long() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        _ = try await world.sql(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                shown, sent_at)
                SELECT id, 'in', 'bob@localhost', i, '', i, 'bob@localhost/x', jid, 'chat', hex(zeroblob(100000)), 1, i
                FROM n, account;
            INSERT INTO notification(account, message, conversation, kind)
                SELECT account, id, conversation, 'show' FROM message;
            """)
        let wake = try await Wake(world, "100 long ones owed", atMost: 24)
        #expect(wake.shown == 100)
    }

    @Test(
        "nor does a room with 2,000 people, who come and go, that the run enters anew",
        .enabled(if: LongForm.runs("wake-memory"), "Scripts/long wake-memory"))
    func crowd() async throws {
        let port = try freePort()
        let world = try await World(options: ServerOptions(componentPort: port), users: ["alice"])
        defer { world.close() }
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/crowd.py").path
        let crowd = try Running(
            world.laboratory.launch("/usr/bin/python3", [program, "\(port)", "2000", "18000"]))
        let isThere = try await until { try crowd.lines == ["connected"] }
        let said = try crowd.errors
        #expect(isThere, "\(said)")
        let joined = try world.kalij("room", "join", "crowd@push.localhost")
        #expect(joined.status == 0, "\(joined)")
        // Without a session the run enters anew.
        _ = try await world.sql("UPDATE session SET resume_id = NULL")
        let before = try crowd.lines.count
        _ = try await Wake(world, "a room with 2,000", atMost: 24)
        let hasEntered = try await until { try crowd.lines.count == before + 1 }
        let occupants = try await world.sql("SELECT count(*) FROM occupant")
        #expect(hasEntered && (Int(occupants.dropLast()) ?? 0) >= 1990, "\(hasEntered), \(occupants)")
    }
}

/// A wake run from its start to its end, and its memory.
private struct Wake {
    /// How many notifications were shown.
    let shown: Int

    /// The largest memory of the process itself is looked for every millisecond; the system keeps that of all resident memory.
    private static let script = """
        import os, re, sys, time
        pid = os.fork()
        if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
        own = 0
        while True:
            ended, _, usage = os.wait4(pid, os.WNOHANG)
            if ended: break
            try:
                text = open("/proc/%d/status" % pid).read()
                if "Name:\\tkalij\\n" in text: own = max(own, int(re.search(r"RssAnon:\\s+(\\d+)", text).group(1)))
            except (OSError, AttributeError): pass
            time.sleep(0.001)
        print("memory", own, usage.ru_maxrss)
        """

    /// - Parameter megabytes: the bound for all resident memory.
    init(_ world: World, _ what: String, atMost megabytes: Int) async throws {
        let start = Date()
        let words = ["-c", Self.script, world.kalij.executable, "--data", world.kalij.data]
        let output = try await world.laboratory.run(
            "/usr/bin/python3", words + ["--json", "wake", "--budget", "3000"], seconds: hangLimit)
        let lines = output.split(separator: "\n")
        let numbers = try #require(lines.last).split(separator: " ").compactMap { Int($0) }
        let (own, all) = (try #require(numbers.first), try #require(numbers.last))
        shown = lines.count { $0.contains("\"kind\":\"show\"") }
        print("wake with \(what): \(own) kB of its own, \(all) kB resident, \(Date().timeIntervalSince(start)) s")
        #expect(own > 0 && own <= Self.own)
        if LongForm.runs("wake-memory") { #expect(all <= megabytes * 1024) }
    }

    /// The bound for a process's own memory, in kB.
    private static let own = 12 * 1024
}
