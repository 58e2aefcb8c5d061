import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Times that are compared with the server's are the server's (stamps, XEP-0202). Deadlines survive a clock that goes back."
struct ClockTests {
    private static let hours: Int64 = 5 * 3_600_000

    /// A harness with a request, two timers and a promise that wait for 30 s.
    private func waiting() throws -> StepHarness {
        let harness = try StepHarness.logging()
        _ = try harness.ask("request", to: "romeo@example.net")
        try harness.perform { step in
            _ = try step.schedule(Log.Rung(text: "timer"), at: step.now + 30_000)
            _ = try step.schedule(Log.Rung(text: "other timer"), after: .seconds(30))
            try step.then(try step.promise(of: Int.self, within: .seconds(30)), Log.Awaited(text: "promise"))
        }
        return harness
    }

    private func callWhatIsDue(_ harness: StepHarness) throws {
        while try harness.steps.due() != nil {}
        if let deadline = try harness.steps.nextDeadline(), deadline <= harness.runner.steadyNow {
            while try harness.steps.expire(.all, until: harness.runner.steadyNow) != nil {}
        }
    }

    @Test(
        "a clock that is set by hours, back or forward, makes no deadline longer or shorter",
        arguments: [-hours, hours])
    func deadlines(set milliseconds: Int64) throws {
        let harness = try waiting()
        harness.clock.set(by: milliseconds)
        harness.clock.move(by: 29_000)
        try callWhatIsDue(harness)
        #expect(try harness.log().isEmpty)
        harness.clock.move(by: 2000)
        try callWhatIsDue(harness)
        let log = try harness.log().sorted()
        #expect(log == ["other timer rung", "promise timeout", "request: timeout", "timer rung"])
    }

    @Test("another process has the same time, even if the clock was set before its beginning")
    func anotherProcess() throws {
        let harness = try waiting()
        harness.clock.set(by: Self.hours)
        let steady = try #require(try SteadyTime(reading: harness.database, harness.clock.clock))
        #expect(steady.now == harness.runner.steadyNow)
        #expect(harness.clock.now == steady.now + Self.hours)
        // Lists for people are in the time of their clock.
        let listed = try PendingReader(harness.database, clock: harness.clock.clock).all().map(\.until)
        #expect(listed == [Int64](repeating: harness.clock.now + 30_000, count: 4))
    }

    @Test("after a restart with a slow clock, the time goes on from the stored time")
    func startedAgain() throws {
        let harness = try waiting()
        func clock(at time: Int64, boot: String) -> Clock {
            Clock(now: { time }, monotonic: { 0 }, sinceBoot: { 5000 }, boot: { boot })
        }
        try harness.database.transaction {
            let slow = try SteadyTime(in: harness.database, clock(at: StepHarness.noon - Self.hours, boot: "second"))
            #expect(slow.now == StepHarness.noon)
            let right = try SteadyTime(in: harness.database, clock(at: StepHarness.noon + Self.hours, boot: "third"))
            #expect(right.now == StepHarness.noon + Self.hours)
            // The first process after the start of the machine sets the time for the others.
            let other = try SteadyTime(in: harness.database, clock(at: 0, boot: "third"))
            #expect(other.now == right.now)
        }
    }

    @Test("the system's times go on, and each start of the machine has a name")
    func system() {
        let clock = Clock.system
        let before = clock.sinceBoot()
        #expect(before > 0 && clock.sinceBoot() >= before && !clock.boot().isEmpty)
    }

    // MARK: The server's time

    private static let minutes: Int64 = 10 * 60_000

    /// A harness with a wrong clock and a fresh session; the server has answered all questions except the question for its
    /// time.
    private func bound(fast: Int64, days: Int64 = 14) throws -> StepHarness {
        let harness = try StepHarness(notifies: true, fast: fast)
        try harness.database.execute("UPDATE account SET history_days = \(days)")
        return harness
    }

    private func begin(_ harness: StepHarness, time: String?) throws {
        let account = try AccountTable(harness.database).account(nil, in: harness.directory)
        let steps = SessionSteps(runner: harness.runner, account: account)
        _ = try steps.bound(try JID("juliet@example.org/balcony"))
        _ = try steps.established(resumeID: "session-1")
        func receive(_ xml: String) throws {
            _ = try steps.handle(
                try Element.parse(StepHarness.inClient(xml)), count: try steps.load().handled.advanced())
        }
        let features = try #require(try harness.questions("features").last)
        try receive(
            """
            <iq type='result' id='\(features)' from='juliet@example.org'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <feature var='urn:xmpp:mam:2'/></query></iq>
            """)
        #expect(try harness.questions("page").isEmpty, "the first reading waits for the server's time")
        let asked = try #require(try harness.text("SELECT id FROM request WHERE name = 'server-time.told'"))
        #expect(try harness.request(asked)["to"] == "example.org")
        try receive(
            time.map {
                """
                <iq type='result' id='\(asked)' from='example.org'><time xmlns='urn:xmpp:time'><tzo>+02:00</tzo>\
                <utc>\($0)</utc></time></iq>
                """
            } ?? "<iq type='error' id='\(asked)' from='example.org'/>")
    }

    @Test(
        "a clock that is 10 minutes fast or slow loses no notification of messages after the login, where the first reading begins",
        arguments: [-minutes, 0, minutes])
    func notified(fast: Int64) throws {
        let harness = try bound(fast: fast, days: 0)
        harness.clock.move(by: 60_000)
        try begin(harness, time: "2026-11-21T12:01:00Z")
        #expect(try harness.asked() == ["from 2026-11-21T12:00:00Z"])
        try harness.receive(try harness.result("a1", "before the login", at: "2026-11-21T11:59:58Z"))
        try harness.receive(try harness.result("a2", "after the login", at: "2026-11-21T12:00:01Z"))
        #expect(
            try harness.text("SELECT group_concat(m.body) FROM notification n JOIN message m ON m.id = n.message")
                == "after the login")
    }

    @Test("where the server does not tell its time, a clock that is 10 minutes fast loses nothing either")
    func untold() throws {
        let harness = try bound(fast: Self.minutes, days: 0)
        try begin(harness, time: nil)
        #expect(try harness.asked() == ["from 2026-11-21T11:10:00Z"])
        try harness.receive(try harness.result("a2", "after the login", at: "2026-11-21T12:00:01Z"))
        #expect(try harness.count("notification") == 1)
    }

    @Test(
        "an archived message has the archive's stamp: reading by this stamp goes on where the archive has lost an id"
    )
    func stamped() throws {
        let harness = try StepHarness.reading()
        harness.clock.set(by: Self.hours)
        try harness.receive(
            "<message from='romeo@example.net/a' id='m-a1'><body>a1</body><origin-id xmlns='urn:xmpp:sid:0' id='m-a1'/></message>"
        )
        try harness.accept("mine")
        let mine = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'mine'"))
        #expect(try harness.number("SELECT min(sent_at) FROM message") == StepHarness.noon + Self.hours)
        try harness.receive(
            try harness.archived(
                "a1",
                "<message from='romeo@example.net/a' id='m-a1'><body>a1</body><origin-id xmlns='urn:xmpp:sid:0' id='m-a1'/></message>",
                at: "2026-11-21T12:00:00Z"))
        try harness.receive(
            try harness.archived(
                "a2",
                "<message from='juliet@example.org/balcony' to='romeo@example.net' id='\(mine)'><body>mine</body></message>",
                at: "2026-11-21T12:00:00Z"))
        #expect(try harness.number("SELECT count(*) FROM message") == 2)
        #expect(try harness.number("SELECT max(sent_at) FROM message") == StepHarness.noon)
    }
}
