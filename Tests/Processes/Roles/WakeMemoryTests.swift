import Foundation
import KalijLab
import Testing

/// "The whole wake run, from exec to exit, with 1 waiting message on a loopback server: peak resident memory at most 24 MB; with
/// 5,000 waiting messages at most 28 MB."
@Suite(.serialized) struct WakeMemoryTests {
    @Test("a wake run stays within its memory", arguments: [(1, 24), (5000, 28)])
    func memory(waiting: Int, megabytes: Int) async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let bob = try await Peer("bob", password: "secret", server: world.server, laboratory: world.laboratory)
            .chat(with: "alice@localhost", label: "m", rate: 0, count: waiting)
        try await bob.finished(seconds: 120)
        await bob.quit()
        let (output, peak, seconds) = try await world.measuredWake()
        let shown = output.split(separator: "\n").count { $0.contains("\"kind\":\"show\"") }
        print("wake with \(waiting) waiting: VmHWM \(peak) kB, \(shown) notifications, \(seconds) s")
        #expect(shown == waiting)
        #expect(peak <= megabytes * 1024)
        #expect(seconds < 25)
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
        let (output, peak, _) = try await world.measuredWake()
        let shown = output.split(separator: "\n").count { $0.contains("\"kind\":\"show\"") }
        print("wake with 100 long ones owed: VmHWM \(peak) kB")
        #expect(shown == 100)
        #expect(peak <= 24 * 1024)
    }

    @Test("nor does a room with 2,000 people, who come and go, that the run enters anew")
    func crowd() async throws {
        let port = try freePort()
        let world = try await World(options: ServerOptions(resumeSeconds: 2, componentPort: port), users: ["alice"])
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
        // The session ends, so that the run enters anew.
        try await sleep(for: .seconds(4))
        let before = try crowd.lines.count
        let (_, peak, seconds) = try await world.measuredWake()
        let hasEntered = try await until { try crowd.lines.count == before + 1 }
        let occupants = try await world.sql("SELECT count(*) FROM occupant")
        print("wake in a room with 2,000: VmHWM \(peak) kB, \(seconds) s")
        #expect(hasEntered && (Int(occupants.dropLast()) ?? 0) >= 1990, "\(hasEntered), \(occupants)")
        #expect(peak <= 24 * 1024)
    }
}
