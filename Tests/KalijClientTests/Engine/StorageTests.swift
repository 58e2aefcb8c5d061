import Foundation
import KalijCoordination
import KalijStore
import KalijStream
import KalijTransport
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Disk full during a step: the step is rolled back, nothing is acknowledged, and the step is done when there is room. An error of
/// the machine never counts as an attempt (Rules.md, durability 2).
struct StorageTests {
    /// A driver on a database of its own, whose room the test decides on.
    private final class Driven {
        /// Keeps the directory.
        let drive: EngineFixture
        let loop: EventLoop
        let database: Database
        let account: Account
        let driver: AccountDriver
        private(set) var told: [String] = []
        var onEvent: (String) -> Void = { _ in }

        init(_ drive: EngineFixture, timing: Timing = EngineFixture.timing) throws {
            self.drive = drive
            loop = try EventLoop()
            let driven = try drive.directory.drive(role: .main, now: 1)
            database = driven.database
            let runner = StepRunner(
                database: database, fence: driven.fence, barrier: Barrier(database),
                clock: .system, features: try Features())
            account = try AccountTable(database).account(nil, in: drive.directory)
            var report: (EngineEvent) -> Void = { _ in }
            let context = DriverContext(
                loop: loop, runner: runner, timing: timing, report: { report($0) },
                fatal: { Issue.record($0) }, changed: {}, awaiter: PromiseAwaiter { _ in })
            driver = AccountDriver(account, context: context, careful: driven.careful)
            report = { [weak self] event in
                self?.told.append(event.short)
                self?.onEvent(event.short)
            }
        }

        func number(_ sql: String) throws -> Int64 { try database.prepare(sql).first { $0.integer() } ?? 0 }

        /// The database may grow by `pages` from now on.
        func leaveRoom(_ pages: Int64) throws {
            try database.execute("PRAGMA max_page_count=\(try number("PRAGMA page_count") + pages)")
        }
    }

    /// A recorded stream of `count` messages of a kilobyte.
    private func recording(_ count: Int, in scratch: ScratchDirectory) throws -> String {
        let body = String(repeating: "x", count: 1000)
        let stanzas = (0..<count).map { number in
            """
            <message from='romeo@localhost/x' to='juliet@localhost' id='\(number)'><body>\(number) \(body)</body>\
            <origin-id xmlns='urn:xmpp:sid:0' id='\(number)'/></message>\
            \(number % 10 == 9 ? "<r xmlns='urn:xmpp:sm:3'/>" : "")
            """
        }
        try stanzas.joined().write(toFile: scratch.file("recording.xml"), atomically: true, encoding: .utf8)
        return scratch.file("recording.xml")
    }

    @Test("a full disk stops the reading, and with room again every stanza is stored once, in order")
    func full() throws {
        let scratch = try ScratchDirectory()
        let server = try ScriptedServer("replay", try recording(300, in: scratch))
        let driven = try Driven(try EngineFixture(server))
        try driven.leaveRoom(12)
        var (stored, waits): (Int64, Int) = (0, 0)
        driven.onEvent = { event in
            guard event == "waiting for storage" else { return }
            waits += 1
            let now = (try? driven.number("SELECT count(*) FROM message")) ?? -1
            if waits == 1 { stored = now } else { #expect(now == stored) }
            // The counter stands where the rows do: the answers to the questions for features, for the time and for the
            // roster are four more.
            #expect((try? driven.number("SELECT handled FROM session")) == stored + 4)
            #expect(driven.driver.line?.isReading == false)
            if waits == 3 { try? driven.leaveRoom(10_000) }
        }
        driven.driver.connect()
        func wait() {
            if (try? driven.number("SELECT count(*) FROM message")) == 300 { return driven.loop.stop() }
            driven.loop.schedule(after: 0.02) { wait() }
        }
        wait()
        let patience = driven.loop.schedule(after: hangLimit) { [loop = driven.loop] in loop.stop() }
        driven.loop.run()
        patience.cancel()
        driven.onEvent = { _ in }
        #expect(waits == 3)
        #expect(stored > 0 && stored < 300)
        #expect(driven.told.contains("storage available"))
        #expect(!driven.told.contains { $0.hasPrefix("offline") }, "\(driven.told.suffix(5))")
        let ids = try driven.database.prepare("SELECT message_id FROM message ORDER BY position").all { $0.text() }
        #expect(ids == (0..<300).map { "\($0)" })
        #expect(try driven.number("SELECT count(*) FROM quarantine") == 0)
        driven.driver.shutDown { _ in }
    }

    private func message(_ id: Int, _ body: String) -> String {
        "<message from='romeo@localhost/x' id='\(id)'><body>\(body)</body></message>"
    }

    @Test("a stanza that breaks its step each time is set aside at the third attempt, and the session goes on")
    func poison() throws {
        let driven = try ConnectedDriver(try StepHarness.online())
        try driven.harness.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = 'poison'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        driven.driver.redelivery.failed()
        for _ in 1...3 {
            // Each time a new connection resumes the session and the same stanza comes again.
            if driven.driver.stage.session == nil { driven.resume() }
            driven.receive(message(1, "poison"))
        }
        #expect(driven.told.contains("quarantined: not processed after 3 attempts"), "\(driven.told)")
        #expect(driven.told.count { $0.hasPrefix("offline") } == 2)
        driven.receive(message(2, "fine"))
        #expect(try driven.harness.history() == ["in fine"])
        #expect(try driven.harness.number("SELECT count(*) FROM quarantine") == 1)
    }

    @Test("a full disk is no attempt, however often it is met")
    func fullIsNoAttempt() throws {
        let driven = try ConnectedDriver()
        driven.driver.redelivery.failed()
        let pages = try #require(try driven.harness.number("PRAGMA page_count"))
        try driven.harness.database.execute("PRAGMA max_page_count=\(pages + 2)")
        let large = String(repeating: "x", count: 100_000)
        driven.receive(message(1, large))
        driven.turn { driven.told.count { $0 == "waiting for storage" } == 5 }
        #expect(driven.told.count { $0 == "waiting for storage" } == 5)
        try driven.harness.database.execute("PRAGMA max_page_count=\(pages + 1000)")
        driven.turn { driven.told.contains("storage available") }
        #expect(try driven.harness.number("SELECT count(*) FROM message") == 1)
        #expect(try driven.harness.number("SELECT count(*) FROM quarantine") == 0)
    }

    @Test("a reading of the archive that the database could not store is repeated later")
    func archive() throws {
        var timing = EngineFixture.timing
        timing.archiveRetry = 0.05
        let driven = try ConnectedDriver(try StepHarness.caughtUp(), timing: timing)
        func asked() throws -> Int64 {
            try driven.harness.number("SELECT count(*) FROM queue WHERE CAST(stanza AS TEXT) LIKE '%urn:xmpp:mam:2%'")
                ?? 0
        }
        let before = try asked()
        try driven.harness.database.execute("PRAGMA busy_timeout = 0")
        let other = try Database(path: driven.harness.directory.databasePath, durability: .machine)
        try other.execute("BEGIN IMMEDIATE")
        driven.onEvent = { if $0.short == "waiting for storage" { try? other.execute("ROLLBACK") } }
        var effects = Step.Effects()
        effects.signal(HistoryFeature.self)
        driven.driver.release(effects)
        driven.turn { (try? asked()) == before + 1 }
        #expect(driven.told.contains("waiting for storage"))
        #expect(try asked() == before + 1)
    }

    @Test("an acknowledgement is owed until the barrier has been raised")
    func barrier() throws {
        let driven = try ConnectedDriver()
        let barrier = { try driven.harness.number("SELECT number FROM barrier") }
        try driven.harness.runner.raiseBarrier()
        let before = try #require(try barrier())
        driven.receive(message(1, "one"))
        #expect(try barrier() == before)
        var atSending: [String: Int64] = [:]
        driven.wire.onSend = { atSending[$0] = try? barrier() }
        driven.receive("<r xmlns='urn:xmpp:sm:3'/>")
        #expect(atSending == ["<a xmlns='urn:xmpp:sm:3' h='1'/>": before + 1])
        #expect(driven.driver.stage.session?.acknowledging.outstandingAcks == 0)
    }
}
