import Foundation
import KalijStore
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Handling a stanza writes a few rows whatever the account's size (Rules.md, durability 11). The cost is counted in pages of the
/// write-ahead log: the number does not depend on the machine.
struct PageTests {
    /// The most pages of a received message, on average. One page is the event's.
    private static let threshold = 7.5

    /// How many messages come before the counted ones, which make the trees deep, and how many are counted.
    private static let (before, counted) = RandomInput.isLong ? (500, 1000) : (300, 300)

    private func pages(_ harness: StepHarness) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: harness.directory.databasePath + "-wal")
        let size = try #require(attributes[.size] as? Int)
        // A header of 32 bytes, then a header of 24 bytes before each page.
        return (size - 32) / (4096 + 24)
    }

    /// As random as the ids of clients and servers, and the same in each run.
    private func id(_ number: Int, _ kind: UInt64) -> String {
        var random = Seeded(UInt64(number) &* 3 &+ kind)
        return "\(String(random.next(), radix: 16))-\(String(random.next(), radix: 16))"
    }

    private func message(_ number: Int, by account: String) -> String {
        let words = ["soft", "what", "light", "through", "yonder", "window", "breaks"]
        let body = (0..<(8 + number % 23)).map { words[(number + $0) % words.count] }.joined(separator: " ")
        // The clients we know give the stanza and its origin-id the same id.
        let id = id(number, 0)
        return """
            <message from='romeo\(number % 20)@example.net/orchard' to='juliet@example.org/balcony' type='chat' \
            id='\(id)'><body>\(body)</body><origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>\
            <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(self.id(number, 1))'/></message>
            """
    }

    @Test("Received messages in steps of their own cost at most 7.5 pages each")
    func received() throws {
        let harness = try StepHarness.caughtUp()
        // The contacts are known: nobody of those that write here is one.
        try harness.subscribe()
        for number in 0..<Self.before { try harness.receive(message(number, by: "")) }
        try harness.database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint=0")
        for number in Self.before..<Self.before + Self.counted { try harness.receive(message(number, by: "")) }
        let each = Double(try pages(harness)) / Double(Self.counted)
        print("pages of the write-ahead log per received message: \(each)")
        #expect(each <= Self.threshold)
    }

    @Test("Messages of an archive, each result a step of its own, cost at most 9 pages each")
    func archived() throws {
        let harness = try StepHarness.reading()
        func show(_ numbers: Range<Int>) throws {
            for number in numbers {
                let id = id(number, 2)
                try harness.receive(try harness.result(id, xml: message(number, by: "")))
                if number % 100 == 99 { try harness.fin("page", last: id) }
            }
        }
        try show(0..<Self.before)
        try harness.database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint=0")
        try show(Self.before..<Self.before + Self.counted)
        let each = Double(try pages(harness)) / Double(Self.counted)
        print("pages of the write-ahead log per message of an archive: \(each)")
        #expect(each <= 9)
    }

    @Test("the look-ups of reading an archive do not grow with the history")
    func readingArchive() throws {
        let harness = try StepHarness.caughtUp()
        for sql in [
            "SELECT id FROM message WHERE account = 1 AND archive = '' AND stanza_id = 'x' AND sender = 'a' AND message_id = 'b'",
            "SELECT position FROM message WHERE account = 1 AND archive = '' AND stanza_id = 'x'",
            "SELECT id FROM message WHERE account = 1 AND sender = 'a' AND origin_id = 'x' AND stanza_id IS NULL AND direction = 'in'",
            "SELECT id FROM archive_range WHERE account = 1 AND archive = '' ORDER BY last_position DESC LIMIT 1",
            "SELECT id FROM quarantine WHERE account = 1 AND retry = 'wanted' ORDER BY id LIMIT 1",
        ] {
            let plan = try harness.database.prepare("EXPLAIN QUERY PLAN " + sql).all { $0.text("detail") }.joined(
                separator: "; ")
            #expect(plan.hasPrefix("SEARCH"), "\(sql): \(plan)")
        }
    }

    @Test("the look-ups of sending a message do not grow with the history")
    func sending() throws {
        let harness = try StepHarness.caughtUp()
        for sql in [
            "SELECT m.stanza_id FROM message m NOT INDEXED WHERE m.account = 1 AND m.id > 5 ORDER BY m.id DESC LIMIT 1",
            "SELECT id FROM message NOT INDEXED WHERE id > 5 AND account = 1 AND catchup < 2",
            "SELECT id FROM message WHERE account = 1 AND direction = 'out' AND origin_id = 'x' AND received_at IS NULL",
            """
            SELECT id FROM message WHERE account = 1 AND direction = 'out'
                AND (state = 'queued' OR state = 'sent' OR state = 'failed') AND state = 'sent' AND settled = 1 ORDER BY id
            """,
        ] {
            let plan = try harness.database.prepare("EXPLAIN QUERY PLAN " + sql).all { $0.text("detail") }.joined(
                separator: "; ")
            #expect(plan.hasPrefix("SEARCH"), "\(sql): \(plan)")
            #expect(!plan.contains("TEMP B-TREE"), "\(sql): \(plan)")
        }
    }
}
