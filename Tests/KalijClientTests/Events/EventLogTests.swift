import KalijAddress
import KalijCoordination
import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Every event about a message has a number that only grows", "a cursor that is older than what is kept must be told clearly".
@Suite struct EventLogTests {
    private func incoming(_ id: String) -> String {
        "<message from='romeo@example.net/o' to='juliet@example.org' type='chat' id='\(id)'><body>\(id)</body></message>"
    }

    private func short(_ events: [EngineEvent]) -> [String] {
        events.map { "\($0.number ?? 0) \(Step.Effects(events: [$0]).told.first ?? "?")" }
    }

    @Test("events about messages have numbers, and are read after any number as they were told")
    func reads() throws {
        let harness = try StepHarness.online()
        var told = try harness.receive(incoming("one")).events
        let message = try harness.accept("two")
        let entries = try OutboundQueue(database: harness.database, account: harness.account.id).entries(
            after: 0, limit: 9)
        told += try harness.queueSteps.transmitting(entries).events
        told += try harness.steps.acknowledged(
            try harness.steps.load().acknowledged.advanced(by: UInt32(entries.count))
        )
        .events
        told += try harness.receive(incoming("three")).events
        told.removeAll { $0.number == nil }
        let log = try EventLog(harness.directory)
        #expect(told.compactMap(\.number) == [1, 2, 3, 4])
        #expect(try short(log.events(after: 0)) == short(told))
        #expect(try short(log.events(after: 0)).contains("2 two is sent"), "though it is acked by now")
        for number in 0...4 as ClosedRange<Int64> {
            #expect(try short(log.events(after: number)) == short(told).suffix(4 - Int(number)))
        }
        #expect(try log.events(after: 1, limit: 2).map(\.number) == [2, 3])
        #expect(try log.events(after: 0).map(\.at) == told.map(\.at))
        #expect(try log.last == 4 && message.id > 0)
    }

    @Test("many events of a step are stored once each and in order, and none of a part that was undone")
    func together() throws {
        let harness = try StepHarness.online()
        try harness.receive(incoming("one"))
        var told: [Int64] = []
        try harness.perform { step in
            let row = try #require(try harness.number("SELECT max(id) FROM message"))
            let stored = MessageStored(try #require(try Message.load(row, from: step.database)))
            let publisher = EventPublisher(step: step)
            for _ in 0..<13 { try publisher.publish(stored) }
            #expect(throws: StoreError.self) {
                try step.undoable {
                    for _ in 0..<20 { try publisher.publish(stored) }
                    throw StoreError(.constraint, "undone")
                }
            }
            for _ in 0..<4 { try publisher.publish(stored) }
            told = step.effects.events.compactMap(\.number)
        }
        #expect(told == Array(2...18))
        #expect(try EventLog(harness.directory).events(after: 1).map(\.number) == told)
    }

    @Test("a step that is rolled back has no event")
    func rolledBack() throws {
        let harness = try StepHarness.online()
        #expect(throws: (any Error).self) {
            try harness.runner.run("test", for: harness.account) { step in
                try Dispatcher.handle(try StepHarness.arrival((incoming("one"))), in: step)
                throw StoreError(.full, "test")
            }
        }
        try harness.receive(incoming("two"))
        #expect(try short(EventLog(harness.directory).events(after: 0)) == ["1 message two"])
    }

    @Test("a page of large messages is short")
    func pages() throws {
        let harness = try StepHarness.online()
        for number in 0..<5 { try harness.receive(incoming("\(number)")) }
        try harness.database.execute("UPDATE message SET body = hex(zeroblob(200000))")
        let log = try EventLog(harness.directory)
        #expect(try log.events(after: 0).map(\.number) == [1, 2, 3])
        #expect(try log.events(after: 3).map(\.number) == [4, 5])
    }

    @Test("events older than 30 days are removed, except the newest 10,000; a reader that missed them is told")
    func forgets() throws {
        let harness = try StepHarness.online()
        try harness.receive(incoming("old"))
        try fill(harness, 11_998, at: harness.clock.now)
        harness.clock.move(by: 29 * 86_400_000)
        try harness.receive(incoming("12000"))
        let log = try EventLog(harness.directory)
        #expect(try log.events(after: 0, limit: 1).map(\.number) == [1], "not old enough")
        try fill(harness, 999, at: harness.clock.now)
        harness.clock.move(by: 2 * 86_400_000)
        try harness.receive(incoming("13000"))
        #expect(try harness.number("SELECT min(number) FROM event") == 2001)
        #expect(throws: EventLogError.forgotten(through: 2000)) { try log.events(after: 1999) }
        #expect(try log.events(after: 2000, limit: 1).map(\.number) == [2001])
        try fill(harness, 999, at: harness.clock.now)
        try harness.receive(incoming("14000"))
        #expect(try harness.number("SELECT count(*) FROM event WHERE number > 4000") == 10_000)
        #expect(try harness.number("SELECT min(number) FROM event") ?? 0 > 2001)
        #expect(try harness.number("SELECT min(number) FROM event") ?? 9999 <= 4001, "10,000 stay however old they are")
    }

    private func fill(_ harness: StepHarness, _ count: Int, at time: Int64) throws {
        try harness.database.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO event(account, at, kind, message) SELECT \(harness.account.id), \(time), 'message', 1 FROM n
            """)
    }

    @Test("a number that no event has had is an error: it is another directory's, or the database was restored")
    func unknown() throws {
        let harness = try StepHarness.online()
        try harness.receive(incoming("one"))
        let log = try EventLog(harness.directory)
        #expect(try log.events(after: 1).isEmpty)
        #expect(throws: EventLogError.unknown(2, last: 1)) { try log.events(after: 2) }
    }

    /// A power failure undoes commits that were not synced: told events are gone, and their numbers must not be given
    /// to other events.
    @Test("numbers are left out after a driver that has not let go, and only then")
    func leftOut() throws {
        let harness = try StepHarness.online()
        try harness.receive(incoming("one"))
        let second = try harness.directory.drive(role: .main, now: 1, over: harness.fence.owner)
        #expect(try EventLog(harness.directory).last == 10_001)
        try second.fence.letGo(second.database)
        _ = try harness.directory.drive(role: .main, now: 2)
        #expect(try EventLog(harness.directory).last == 10_001)
        #expect(try EventLog(harness.directory).events(after: 0).map(\.number) == [1])
    }

    @Test("the events of a removed account are removed, too; their numbers are not given again")
    func removed() throws {
        let harness = try StepHarness.online()
        try harness.receive(incoming("one"))
        try harness.database.run("DELETE FROM account")
        let log = try EventLog(harness.directory)
        #expect(try log.events(after: 0).isEmpty)
        #expect(try log.last == 1)
    }
}
