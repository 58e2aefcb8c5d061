import KalijAddress
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Stanzas that arrive together are handled in one transaction, each in a step of its own; up to fifty results of a
/// page are one step. Rules.md, durability 1: all changes of a stanza are in one transaction. Durability 3: effects
/// leave after the commit. Durability 4: no `h` without its commit.
struct TogetherTests {
    private static func message(_ body: String) -> String {
        "<message from='romeo@example.net/x' type='chat' id='\(body)'><body>\(body)</body></message>"
    }

    private static let request = "<r xmlns='urn:xmpp:sm:3'/>"
    private static let five = (1...5).map { message("\($0)") }.joined() + request

    @Test("stanzas that arrive together are committed together, and told and acknowledged after the commit")
    func together() throws {
        let driven = try ConnectedDriver()
        let outside = try Database(reading: driven.harness.directory.databasePath)
        func stored() -> Int64 { (try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1 }
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in storedWhenTold.append(stored()) }
        driven.receive(Self.five)
        #expect(driven.told == (1...5).map { "message \($0)" })
        #expect(storedWhenTold == [5, 5, 5, 5, 5])
        #expect(try driven.harness.steps.load().handled == HandledCount(5))
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='5'/>"), "\(driven.wire.sent)")
    }

    @Test("chunks that are read in one turn are handled together, and a divided stanza when it is whole")
    func chunks() throws {
        let driven = try ConnectedDriver()
        let outside = try Database(reading: driven.harness.directory.databasePath)
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in
            storedWhenTold.append((try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1)
        }
        let text = Array(Self.five.utf8)
        driven.receive([Array(text[..<150]), Array(text[150..<300]), Array(text[300...])])
        #expect(storedWhenTold == [5, 5, 5, 5, 5])
    }

    @Test("stanzas from before the end of a connection are handled")
    func end() throws {
        let driven = try ConnectedDriver()
        driven.wire.say(Array(Self.five.utf8))
        driven.wire.events(.closed(nil))
        #expect(driven.told.prefix(5) == ["message 1", "message 2", "message 3", "message 4", "message 5"])
        #expect(driven.told.dropFirst(5) == ["offline: the server closed the connection"])
    }

    @Test("a step that throws in the middle is undone alone; steps before are kept, stanzas after it come again")
    func throwing() throws {
        let driven = try ConnectedDriver()
        try driven.harness.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = '3'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        driven.receive(Self.five)
        #expect(try driven.harness.history() == ["in 1", "in 2"])
        #expect(try driven.harness.steps.load().handled == HandledCount(2))
        #expect(driven.told.prefix(2) == ["message 1", "message 2"])
        #expect(driven.told.count { $0.hasPrefix("message") } == 2)
        #expect(driven.told.dropFirst(2).first?.hasPrefix("offline: ") == true)
        // The next connection handles each stanza alone, so the third attempt sets the stanza aside.
        #expect(driven.driver.redelivery.isCareful)
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("a commit that fails undoes all steps, and then each step is committed alone")
    func commitFails() throws {
        let driven = try ConnectedDriver()
        // The error appears at the commit, not before.
        try driven.harness.database.execute(
            """
            CREATE TABLE late(account INTEGER REFERENCES account(id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER late AFTER INSERT ON message WHEN NEW.body = '4' BEGIN INSERT INTO late VALUES (99); END;
            """)
        driven.receive(Self.five)
        #expect(try driven.harness.history() == ["in 1", "in 2", "in 3"])
        #expect(try driven.harness.steps.load().handled == HandledCount(3))
        #expect(
            driven.told.prefix(4).map { String($0.prefix(9)) } == ["message 1", "message 2", "message 3", "offline: "])
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("results of a page that arrive together are one step; other stanzas are steps of their own, in order")
    func results() throws {
        let driven = try ConnectedDriver(try StepHarness.reading())
        let (first, second) = (try driven.harness.result("1"), try driven.harness.result("2"))
        let forged = second.replacing("from='juliet@example.org'><result", with: "from='mallory@example.net'><result")
        let other = second.replacing(/queryid='[^']*'/, with: "queryid='other'")
        let (third, fourth) = (try driven.harness.result("3"), try driven.harness.result("4"))
        driven.receive([first, second, Self.message("live"), third, forged, other, fourth, Self.request].joined())
        #expect(driven.told == ["message 1", "message 2", "message live", "message 3", "message 4"])
        #expect(try driven.harness.history() == ["in 1", "in 2", "in live", "in 3", "in 4"])
        #expect(try driven.harness.number("SELECT seen FROM catchup") == 4)
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='7'/>"), "\(driven.wire.sent)")
    }

    @Test("results wait for the rest of their page, in pieces of any size, but not for ever")
    func gathering() throws {
        let driven = try ConnectedDriver(try StepHarness.reading(), page: 0.2)
        let outside = try Database(reading: driven.harness.directory.databasePath)
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in
            storedWhenTold.append((try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1)
        }
        driven.receive(try driven.harness.result("1"))
        driven.receive(try driven.harness.result("2") + Self.request)
        #expect(driven.told.isEmpty && !driven.wire.sent.contains { $0.hasPrefix("<a ") })
        // A message of another kind does not wait, and no message waits after it.
        driven.receive(Self.message("live"))
        #expect(driven.told == ["message 1", "message 2", "message live"])
        #expect(storedWhenTold == [3, 3, 3])
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='3'/>"), "\(driven.wire.sent)")
        driven.receive(try driven.harness.result("3"))
        driven.turn { driven.told.last == "message 3" }
        #expect(driven.told.last == "message 3")
    }

    @Test("the state of a reading is written once for fifty results")
    func fifty() throws {
        let driven = try ConnectedDriver(try StepHarness.reading())
        try driven.harness.database.execute(
            """
            CREATE TEMP TABLE written(seen INTEGER);
            CREATE TEMP TRIGGER written AFTER UPDATE ON catchup BEGIN INSERT INTO written VALUES (NEW.seen); END;
            """)
        let ids = (1...120).map { "\($0)" }
        driven.receive(try ids.map { try driven.harness.result($0) }.joined())
        #expect(try driven.harness.history() == ids.map { "in \($0)" })
        #expect(driven.told == ids.map { "message \($0)" })
        #expect(try driven.harness.text("SELECT group_concat(seen) FROM written") == "50,100,120")
        #expect(try driven.harness.steps.load().handled == HandledCount(120))
    }

    @Test("a result that cannot be stored is undone alone; results before it are kept")
    func throwingResult() throws {
        let driven = try ConnectedDriver(try StepHarness.reading())
        try driven.harness.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = '3'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        driven.receive(try (1...5).map { try driven.harness.result("\($0)") }.joined() + Self.request)
        #expect(try driven.harness.history() == ["in 1", "in 2"])
        #expect(try driven.harness.number("SELECT seen FROM catchup") == 2)
        #expect(try driven.harness.steps.load().handled == HandledCount(2))
        #expect(driven.told.prefix(2) == ["message 1", "message 2"])
        #expect(driven.driver.redelivery.isCareful)
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("a full disk: nothing is stored, told or acknowledged, and with room again each stanza once, in order")
    func full() throws {
        let driven = try ConnectedDriver()
        let pages = try #require(try driven.harness.number("PRAGMA page_count"))
        try driven.harness.database.execute("PRAGMA max_page_count=\(pages + 1)")
        let body = String(repeating: "x", count: 10_000)
        driven.receive((1...5).map { Self.message("\($0) \(body)") }.joined() + Self.request)
        #expect(driven.told == ["waiting for storage"])
        #expect(try driven.harness.history() == [])
        #expect(try driven.harness.steps.load().handled == .zero)
        let session = try #require(driven.driver.stage.session)
        #expect(session.management?.handled == .zero)
        #expect(session.acknowledging.outstandingAcks == 0)
        #expect(!driven.wire.isReading)
        try driven.harness.database.execute("PRAGMA max_page_count=\(pages + 1000)")
        driven.turn { driven.told.contains("storage available") }
        let messages = driven.told.filter { $0.hasPrefix("message") }.map { String($0.prefix(9)) }
        #expect(messages == (1...5).map { "message \($0)" })
        #expect(try driven.harness.history().map { String($0.prefix(4)) } == (1...5).map { "in \($0)" })
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='5'/>"), "\(driven.wire.sent)")
    }

    @Test("a careful driver gives each stanza an attempt and a transaction of its own")
    func careful() throws {
        let driven = try ConnectedDriver()
        let outside = try Database(reading: driven.harness.directory.databasePath)
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in
            storedWhenTold.append((try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1)
        }
        driven.driver.redelivery.failed()
        driven.receive(Self.five)
        #expect(storedWhenTold == [1, 2, 3, 4, 5])
        #expect(try driven.harness.number("SELECT count FROM attempt") == 5)
    }

    @Test("steps of one transaction are not visible before the commit, and a stale owner commits none")
    func transaction() throws {
        struct Broken: Error {}
        let harness = try StepHarness.caughtUp()
        let outside = try Database(reading: harness.directory.databasePath)
        func stored() throws -> Int64? { try outside.prepare("SELECT count(*) FROM message").first { $0.integer() } }
        func run(_ bodies: [String], within limit: Int64 = .max, _ between: () throws -> Void = {}) throws -> Int {
            var rest = bodies.makeIterator()
            let done = try harness.runner.run("test", for: harness.account, each: &rest, within: limit) { body, step in
                try Dispatcher.handle(try StepHarness.arrival(Self.message(body)), in: step)
                try between()
            }
            return done.count
        }
        var storedMeanwhile: [Int64?] = []
        #expect(try run(["1", "2"]) { storedMeanwhile.append(try stored()) } == 2)
        #expect(storedMeanwhile == [0, 0])
        #expect(try stored() == 2)
        #expect(throws: Broken.self) { try run(["3"]) { throw Broken() } }
        #expect(try stored() == 2)
        #expect(try run(["4"]) == 1)
        #expect(try stored() == 3)
        // No step begins once the time is up, so that others can write.
        #expect(try run((5...20).map { "\($0)" }, within: 5_000_000) { harness.clock.move(by: 2) } == 3)
        #expect(try stored() == 6)
        try harness.database.execute("UPDATE fence SET number = number + 1")
        #expect(throws: (any Error).self) { try run(["21"]) }
        #expect(try stored() == 6)
    }

    @Test("a stanza queued by a step does not leave before the step is synced")
    func queuedIsSynced() throws {
        let driven = try ConnectedDriver()
        let barrier = { try driven.harness.number("SELECT number FROM barrier") ?? 0 }
        try driven.harness.runner.raiseBarrier()
        let before = try barrier()
        var atSending: [String: Int64] = [:]
        driven.wire.onSend = { atSending[$0] = (try? barrier()) ?? -1 }
        _ = try driven.harness.runner.run("test", for: driven.harness.account) { step in
            try step.send(Element("presence", xmlns: "jabber:client"))
        }
        #expect(try barrier() == before)
        driven.driver.queueChanged()
        #expect(atSending["<presence/>"] == before + 1)
        // Nothing was committed since.
        driven.receive(Self.request)
        #expect(atSending["<a xmlns='urn:xmpp:sm:3' h='0'/>"] == before + 1)
    }
}
