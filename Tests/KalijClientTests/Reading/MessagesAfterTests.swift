import Foundation
import KalijCoordination
import KalijStore
import KalijStream
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "`messages(after:)`: a cursor that an application can keep."
@Suite struct MessagesAfterTests {
    private let harness: StepHarness

    init() throws { harness = try StepHarness.online() }

    private func receive(_ bodies: String..., from sender: String = "romeo@example.net") throws {
        for body in bodies {
            try harness.receive(
                "<message from='\(sender)/a' to='juliet@example.org' type='chat' id='\(body)'><body>\(body)</body></message>"
            )
        }
    }

    private func after(_ id: Int64, with conversation: String? = nil, limit: Int = 500) throws -> [Message] {
        try HistoryReader(harness.directory)
            .messages(after: id, of: harness.account, with: conversation.map { .received($0) }, limit: limit)
    }

    private func bodies(_ messages: [Message]) -> [String] { messages.map { $0.body ?? "-" } }

    @Test("all messages come in pages, in the order in which they were stored, and then those of a conversation")
    func pages() throws {
        try receive("a", "b")
        try receive("c", from: "nurse@example.net")
        var sent = try harness.accept("d")
        try receive("e", from: "nurse@example.net")
        let first = try after(0, limit: 3)
        #expect(bodies(first) == ["a", "b", "c"])
        let second = try after(#require(first.last).id, limit: 3)
        sent.waitsFor = try #require(second.first?.waitsFor)
        #expect(bodies(second) == ["d", "e"] && second.first == sent)
        #expect(try after(#require(second.last).id).isEmpty)
        #expect(try bodies(after(0, with: "romeo@example.net")) == ["a", "b", "d"])
        #expect(try bodies(after(first[1].id, with: "romeo@example.net/a")) == ["d"])
        #expect(try after(0, with: "paris@example.net").isEmpty && after(0, limit: 0).isEmpty)
    }

    @Test("what is no line of a conversation does not come; a corrected message comes as it is now")
    func shown() throws {
        try receive("a")
        try harness.receive(
            """
            <message from='romeo@example.net/a' to='juliet@example.org' type='chat' id='c'><body>A</body>\
            <replace xmlns='urn:xmpp:message-correct:0' id='a'/></message>
            """)
        try receive("b")
        #expect(try bodies(after(0)) == ["A", "b"])
    }

    @Test("a message that the archive shows later comes after the place, however old")
    func archived() throws {
        let harness = try StepHarness.reading()
        func message(_ id: String) -> String {
            "<message from='romeo@example.net/a' to='juliet@example.org' type='chat' id='\(id)'><body>\(id)</body></message>"
        }
        try harness.receive(message("live"))
        let reader = try HistoryReader(harness.directory)
        let place = try #require(reader.messages(after: 0, of: harness.account).last?.id)
        try harness.receive(harness.archived("a1", message("old")))
        #expect(try reader.messages(after: place, of: harness.account).map(\.body) == ["old"])
    }

    @Test("one of several accounts has its messages in order, whatever the other has")
    func accounts() throws {
        try AccountTable(harness.database).store(
            jid: .received("paris@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "a",
            clock: harness.clock.clock)
        try receive("a")
        try receive("b", from: "nurse@example.net")
        let other = try AccountTable(harness.database).account(.received("paris@example.org"), in: harness.directory)
        _ = try OutgoingMessages.accept(
            "not hers", to: .received("romeo@example.net"), of: other, in: harness.database, clock: harness.clock.clock)
        try receive("c")
        let first = try after(0, limit: 2)
        #expect(bodies(first) == ["a", "b"])
        #expect(try bodies(after(first[0].id)) == ["b", "c"] && bodies(after(first[1].id)) == ["c"])
        #expect(try after(0, limit: 0).isEmpty)
        #expect(
            try bodies(HistoryReader(harness.directory).messages(after: 0, of: other)) == ["not hers"])
    }

    /// `Scripts/long history-rows 1000000` measures.
    @Test("in a large directory, pages are the right ones, of few messages and of many")
    func large() throws {
        let wanted = LongForm.amount("history-rows")
        let count = wanted ?? 20_000
        try AccountTable(harness.database).store(
            jid: .received("paris@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "a",
            clock: harness.clock.clock)
        let accounts = try AccountTable(harness.database).all()
        // A conversation of many, which is quiet in the end; many conversations of few; and another account with few.
        try harness.database.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                shown, sent_at)
            SELECT CASE WHEN i % 1000 = 0 THEN \(accounts[1].id) ELSE \(accounts[0].id) END, 'in',
                CASE WHEN i % 3 = 0 AND i < \(count * 9 / 10) THEN 'big@example.net'
                    ELSE 'romeo' || (i * 7919 % (\(count) / 500)) || '@example.net' END,
                i, '', i, 'a@example.net', 'b', 'chat', 'soft what light through yonder window breaks ' || i,
                i % 10 <> 0 OR i % 1000 = 0, 0 FROM n
            """)
        let reader = try HistoryReader(harness.directory)
        for account in accounts {
            for conversation in [nil, "big@example.net", "romeo7@example.net", "nobody@example.net"] {
                for place in [0, count / 2, count * 9 / 10, count - 5].map({ Int64($0) }) {
                    let expected = try harness.database.prepare(
                        """
                        SELECT id FROM message WHERE account = ?1 AND id > ?2 AND shown = 1
                            AND (?3 IS NULL OR conversation = ?3) ORDER BY id LIMIT 500
                        """
                    ).all([.integer(account.id), .integer(place), .optional(conversation)]) { $0.integer() }
                    let start = ContinuousClock.now
                    let found = try MessageFeed(database: reader.database, account: account.id)
                        .page(500, with: conversation, after: place)
                    let time = ContinuousClock.now - start
                    #expect(found.map(\.id) == expected, "\(account.jid) \(conversation ?? "all") after \(place)")
                    if wanted != nil { print(account.jid, conversation ?? "all", "after", place, found.count, time) }
                }
            }
        }
    }

    @Test(
        "the id of a removed message is not given again: after a failed message is tried again, and after an account goes"
    )
    func neverTwice() throws {
        let failed = try harness.accept("once")
        try harness.write()
        try harness.acknowledgeAll()
        try harness.perform { try MessageWriter(step: $0).fail(failed.id, Reason(other: "no")) }
        try harness.perform { try MessageWriter(step: $0).withdraw(failed.id) }
        #expect(try harness.number("SELECT count(*) FROM message") == 0)
        let second = try harness.accept("twice")
        #expect(second.id == failed.id + 1)
        try receive("a")
        #expect(try bodies(after(failed.id)) == ["twice", "a"])
        let last = try #require(after(0).last).id
        try AccountTable(harness.database).remove(harness.account)
        #expect(try harness.number("SELECT count(*) FROM message") == 0)
        #expect(try MessageFeed.last(in: harness.database) == last)
    }

    @Test("ids are left out after a driver that has not let go; an id from before the loss is still a place")
    func leftOut() throws {
        try receive("a")
        let told = try #require(after(0).last).id
        let second = try harness.directory.drive(role: .main, now: 1, over: harness.fence.owner)
        #expect(try MessageFeed.last(in: second.database) == told + 10_000)
        try second.fence.letGo(second.database)
        _ = try harness.directory.drive(role: .main, now: 2)
        #expect(try MessageFeed.last(in: harness.database) == told + 10_000)
        // Read before the failure, and undone by it.
        #expect(try after(told + 20).isEmpty)
    }

    @Test(
        "the first process after a start of the machine leaves ids and numbers out, if it does not drive, either; and only once"
    )
    func leftOutByWriter() throws {
        try receive("a")
        let told = try #require(after(0).last).id
        let event = try EventLog(harness.directory).last
        func open(_ boot: String) throws {
            let clock = Clock(now: { StepHarness.noon }, monotonic: { 0 }, boot: { boot })
            _ = try harness.directory.open(.machine, role: .share, now: StepHarness.noon, clock: clock)
        }
        try harness.perform { _ = try SteadyTime(in: $0.database, harness.clock.clock) }
        try open(harness.clock.clock.boot())
        #expect(try MessageFeed.last(in: harness.database) == told)
        for _ in 0..<2 { try open("the next start") }
        #expect(try MessageFeed.last(in: harness.database) == told + 10_000)
        #expect(try EventLog(harness.directory).last == event + 10_000)
        try harness.fence.letGo(harness.database)
        try open("another start")
        #expect(try MessageFeed.last(in: harness.database) == told + 10_000)
    }

    @Test("an id that no message has had is an error")
    func unknown() throws {
        try receive("a")
        let last = try #require(after(0).last).id
        #expect(throws: HistoryError.unknownID(last + 10_001, last: last)) { try after(last + 10_001) }
        #expect(try after(last + 10_000).isEmpty)
        #expect(throws: HistoryError.unknownID(.max, last: last)) { try after(.max, with: "romeo@example.net") }
    }

    @Test("a database of an earlier version, which gave ids twice, is refused until it is brought up to date")
    func older() throws {
        try harness.database.execute("DELETE FROM migration WHERE name = 'messages/5'")
        #expect(throws: HistoryError.olderVersion) { try after(0) }
    }
}
