import KalijAddress
import KalijStore
import KalijStream
import KalijTransport
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

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
        let driven = try Connected()
        let outside = try Database(reading: driven.desk.directory.databasePath)
        func stored() -> Int64 { (try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1 }
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in storedWhenTold.append(stored()) }
        driven.receive(Self.five)
        #expect(driven.told == (1...5).map { "message \($0)" })
        #expect(storedWhenTold == [5, 5, 5, 5, 5])
        #expect(try driven.desk.steps.load().handled == HandledCount(5))
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='5'/>"), "\(driven.wire.sent)")
    }

    @Test("chunks that are read in one turn are handled together, and a divided stanza when it is whole")
    func chunks() throws {
        let driven = try Connected()
        let outside = try Database(reading: driven.desk.directory.databasePath)
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
        let driven = try Connected()
        driven.wire.say(Array(Self.five.utf8))
        driven.wire.events(.closed(nil))
        #expect(driven.told.prefix(5) == ["message 1", "message 2", "message 3", "message 4", "message 5"])
        #expect(driven.told.dropFirst(5) == ["offline: the server closed the connection"])
    }

    @Test("a step that throws in the middle is undone alone; steps before are kept, stanzas after it come again")
    func throwing() throws {
        let driven = try Connected()
        try driven.desk.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = '3'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        driven.receive(Self.five)
        #expect(try driven.desk.history() == ["in 1", "in 2"])
        #expect(try driven.desk.steps.load().handled == HandledCount(2))
        #expect(driven.told.prefix(2) == ["message 1", "message 2"])
        #expect(driven.told.count { $0.hasPrefix("message") } == 2)
        #expect(driven.told.dropFirst(2).first?.hasPrefix("offline: ") == true)
        // The next connection handles each stanza alone, so the third attempt sets the stanza aside.
        #expect(driven.driver.isCareful)
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("a commit that fails undoes all steps, and then each step is committed alone")
    func commitFails() throws {
        let driven = try Connected()
        // The error appears at the commit, not before.
        try driven.desk.database.execute(
            """
            CREATE TABLE late(account INTEGER REFERENCES account(id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER late AFTER INSERT ON message WHEN NEW.body = '4' BEGIN INSERT INTO late VALUES (99); END;
            """)
        driven.receive(Self.five)
        #expect(try driven.desk.history() == ["in 1", "in 2", "in 3"])
        #expect(try driven.desk.steps.load().handled == HandledCount(3))
        #expect(
            driven.told.prefix(4).map { String($0.prefix(9)) } == ["message 1", "message 2", "message 3", "offline: "])
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("results of a page that arrive together are one step; other stanzas are steps of their own, in order")
    func results() throws {
        let driven = try Connected(try Desk.reading())
        let (first, second) = (try driven.desk.result("1"), try driven.desk.result("2"))
        let forged = second.replacing("from='juliet@example.org'><result", with: "from='mallory@example.net'><result")
        let other = second.replacing(/queryid='[^']*'/, with: "queryid='other'")
        let (third, fourth) = (try driven.desk.result("3"), try driven.desk.result("4"))
        driven.receive([first, second, Self.message("live"), third, forged, other, fourth, Self.request].joined())
        #expect(driven.told == ["message 1", "message 2", "message live", "message 3", "message 4"])
        #expect(try driven.desk.history() == ["in 1", "in 2", "in live", "in 3", "in 4"])
        #expect(try driven.desk.number("SELECT seen FROM catchup") == 4)
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='7'/>"), "\(driven.wire.sent)")
    }

    @Test("results wait for the rest of their page, in pieces of any size, but not for ever")
    func gathering() throws {
        let driven = try Connected(try Desk.reading(), page: 0.2)
        let outside = try Database(reading: driven.desk.directory.databasePath)
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in
            storedWhenTold.append((try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1)
        }
        driven.receive(try driven.desk.result("1"))
        driven.receive(try driven.desk.result("2") + Self.request)
        #expect(driven.told.isEmpty && !driven.wire.sent.contains { $0.hasPrefix("<a ") })
        // A message of another kind does not wait, and no message waits after it.
        driven.receive(Self.message("live"))
        #expect(driven.told == ["message 1", "message 2", "message live"])
        #expect(storedWhenTold == [3, 3, 3])
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='3'/>"), "\(driven.wire.sent)")
        driven.receive(try driven.desk.result("3"))
        driven.turn(for: 5) { driven.told.last == "message 3" }
        #expect(driven.told.last == "message 3")
    }

    @Test("the state of a reading is written once for fifty results")
    func fifty() throws {
        let driven = try Connected(try Desk.reading())
        try driven.desk.database.execute(
            """
            CREATE TEMP TABLE written(seen INTEGER);
            CREATE TEMP TRIGGER written AFTER UPDATE ON catchup BEGIN INSERT INTO written VALUES (NEW.seen); END;
            """)
        let ids = (1...120).map { "\($0)" }
        driven.receive(try ids.map { try driven.desk.result($0) }.joined())
        #expect(try driven.desk.history() == ids.map { "in \($0)" })
        #expect(driven.told == ids.map { "message \($0)" })
        #expect(try driven.desk.text("SELECT group_concat(seen) FROM written") == "50,100,120")
        #expect(try driven.desk.steps.load().handled == HandledCount(120))
    }

    @Test("a result that cannot be stored is undone alone; results before it are kept")
    func throwingResult() throws {
        let driven = try Connected(try Desk.reading())
        try driven.desk.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = '3'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        driven.receive(try (1...5).map { try driven.desk.result("\($0)") }.joined() + Self.request)
        #expect(try driven.desk.history() == ["in 1", "in 2"])
        #expect(try driven.desk.number("SELECT seen FROM catchup") == 2)
        #expect(try driven.desk.steps.load().handled == HandledCount(2))
        #expect(driven.told.prefix(2) == ["message 1", "message 2"])
        #expect(driven.driver.isCareful)
        #expect(!driven.wire.sent.contains { $0.hasPrefix("<a ") })
    }

    @Test("a full disk: nothing is stored, told or acknowledged, and with room again each stanza once, in order")
    func full() throws {
        let driven = try Connected()
        let pages = try #require(try driven.desk.number("PRAGMA page_count"))
        try driven.desk.database.execute("PRAGMA max_page_count=\(pages + 1)")
        let body = String(repeating: "x", count: 10_000)
        driven.receive((1...5).map { Self.message("\($0) \(body)") }.joined() + Self.request)
        #expect(driven.told == ["waiting for storage"])
        #expect(try driven.desk.history() == [])
        #expect(try driven.desk.steps.load().handled == .zero)
        guard case .online(let management?) = driven.driver.stage else { throw Missing() }
        #expect(management.handled == .zero)
        #expect(driven.driver.requestsToAnswer == 0)
        #expect(!driven.wire.isReading)
        try driven.desk.database.execute("PRAGMA max_page_count=\(pages + 1000)")
        driven.turn(for: 5) { driven.told.contains("storage available") }
        let messages = driven.told.filter { $0.hasPrefix("message") }.map { String($0.prefix(9)) }
        #expect(messages == (1...5).map { "message \($0)" })
        #expect(try driven.desk.history().map { String($0.prefix(4)) } == (1...5).map { "in \($0)" })
        #expect(driven.wire.sent.contains("<a xmlns='urn:xmpp:sm:3' h='5'/>"), "\(driven.wire.sent)")
    }

    @Test("a careful driver gives each stanza an attempt and a transaction of its own")
    func careful() throws {
        let driven = try Connected()
        let outside = try Database(reading: driven.desk.directory.databasePath)
        var storedWhenTold: [Int64] = []
        driven.onEvent = { _ in
            storedWhenTold.append((try? outside.prepare("SELECT count(*) FROM message").first { $0.integer() }) ?? -1)
        }
        driven.driver.isCareful = true
        driven.receive(Self.five)
        #expect(storedWhenTold == [1, 2, 3, 4, 5])
        #expect(try driven.desk.number("SELECT count FROM attempt") == 5)
    }

    @Test("steps of one transaction are not visible before the commit, and a stale owner commits none")
    func transaction() throws {
        struct Broken: Error {}
        let desk = try Desk.caughtUp()
        let outside = try Database(reading: desk.directory.databasePath)
        func stored() throws -> Int64? { try outside.prepare("SELECT count(*) FROM message").first { $0.integer() } }
        try desk.runner.together(for: .max) { _ in
            for body in ["1", "2"] {
                try desk.receive(Self.message(body))
                #expect(try stored() == 0)
            }
        }
        #expect(try stored() == 2)
        #expect(throws: Broken.self) {
            try desk.runner.together(for: .max) { _ in
                try desk.receive(Self.message("3"))
                throw Broken()
            }
        }
        #expect(try stored() == 2)
        try desk.receive(Self.message("4"))
        #expect(try stored() == 3)
        try desk.database.execute("UPDATE fence SET number = number + 1")
        #expect(throws: (any Error).self) {
            try desk.runner.together(for: .max) { _ in try desk.receive(Self.message("5")) }
        }
        #expect(try stored() == 3)
    }

    @Test("no step begins once the time is up, so that others can write")
    func time() throws {
        let desk = try Desk.caughtUp()
        var steps = 0
        try desk.runner.together(for: 5_000_000) { isTime in
            while isTime() {
                try desk.receive(Self.message("\(steps)"))
                steps += 1
                desk.clock.move(by: 2)
            }
        }
        #expect(steps == 3)
    }

    @Test("a stanza queued by a step does not leave before the step is synced")
    func queuedIsSynced() throws {
        let driven = try Connected()
        let barrier = { try driven.desk.number("SELECT number FROM barrier") ?? 0 }
        try driven.desk.runner.raiseBarrier()
        let before = try barrier()
        var atSending: [String: Int64] = [:]
        driven.wire.onSend = { atSending[$0] = (try? barrier()) ?? -1 }
        _ = try driven.desk.runner.run("test", for: driven.desk.account) { step in
            try step.send(Element("presence", xmlns: "jabber:client"))
        }
        #expect(try barrier() == before)
        driven.driver.queueChanged()
        #expect(atSending["<presence/>"] == before + 1)
        // Nothing was committed since.
        driven.driver.requestsToAnswer = 1
        try driven.driver.acknowledge()
        #expect(atSending["<a xmlns='urn:xmpp:sm:3' h='0'/>"] == before + 1)
    }
}

private struct Missing: Error {}

/// A driver in the middle of a session, on a connection that only records.
private final class Connected {
    let desk: Desk
    let wire: Wire
    let driver: AccountDriver
    private let loop: EventLoop
    private(set) var told: [String] = []
    var onEvent: (EngineEvent) -> Void = { _ in }

    /// - Parameter page: how long results wait for the rest of their page, in seconds.
    init(_ desk: Desk? = nil, page: Double = 0) throws {
        var timing = Drive.timing
        timing.page = page
        self.desk = try desk ?? Desk()
        loop = try EventLoop()
        let wire = Wire()
        self.wire = wire
        var report: (EngineEvent) -> Void = { _ in }
        let context = DriverContext(
            loop: loop, runner: self.desk.runner, timing: timing, report: { report($0) },
            fatal: { Issue.record($0) }, changed: {}, awaiter: PromiseAwaiter { _ in }, random: { 0.5 },
            connect: { _, events in
                wire.events = events
                return wire
            })
        driver = AccountDriver(self.desk.account, context: context, careful: false)
        driver.connect()
        driver.stage = .online(StreamManagement())
        receive("<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>")
        report = { [weak self] event in
            self?.told.append(event.short)
            self?.onEvent(event)
        }
    }

    /// The server sends `text`, and the loop turns.
    func receive(_ text: String) { receive([Array(text.utf8)]) }

    func receive(_ chunks: [[UInt8]]) {
        for chunk in chunks { wire.say(chunk) }
        turn(for: 0.01) { false }
    }

    /// The loop turns until `isEnough`, or for `seconds`.
    func turn(for seconds: Double, until isEnough: @escaping () -> Bool) {
        let patience = loop.schedule(after: seconds) { [loop] in loop.stop() }
        func look() {
            if isEnough() { loop.stop() } else { loop.schedule(after: 0.005) { look() } }
        }
        look()
        loop.run()
        patience.cancel()
    }
}

private final class Wire: StreamConnection {
    var events: (ConnectionEvent) -> Void = { _ in }
    var onSend: (String) -> Void = { _ in }
    private(set) var sent: [String] = []
    var unsent: Int { 0 }
    var isReading = true

    func say(_ bytes: [UInt8]) { bytes.withUnsafeBytes { events(.received($0)) } }

    func open() {}
    func startTLS() {}
    func send(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        sent.append(text)
        onSend(text)
    }
    func close(_ finished: (() -> Void)?) {
        events = { _ in }
        finished?()
    }
}
