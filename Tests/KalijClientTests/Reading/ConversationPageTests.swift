import KalijAddress
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Pages around any place of a conversation, with gaps and with what waits in the mailbox.
struct ConversationPageTests {
    private static let romeo = "romeo@example.net"

    /// A harness with a1 to a3, a gap, b5 and b6; older messages are missing, too.
    private func gapped() throws -> StepHarness {
        let harness = try StepHarness.read(3)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.refuse("page", "item-not-found")
        try harness.show(["b5", "b6"], at: "2026-11-21T10:00:00Z")
        try harness.fin("page", last: "b6", complete: true)
        try harness.fin("page", complete: true)
        try harness.database.execute("UPDATE archive_range SET bottom = 0")
        try harness.acknowledgeAll()
        return harness
    }

    private func id(_ body: String, _ harness: StepHarness) throws -> Int64 {
        try #require(try harness.number("SELECT id FROM message WHERE body = '\(body)'"))
    }

    /// The page as a line: `<` if there are older messages, `>` if there are newer ones.
    private func page(
        _ place: ConversationPage.Place, _ limit: Int, _ harness: StepHarness, mailbox: Bool = false
    ) throws -> String? {
        let reader = Conversations(reading: harness.database, of: harness.account, clock: harness.clock.clock)
        let page = try reader.page(
            with: try JID(Self.romeo), at: place, limit: limit, mailbox: mailbox ? harness.directory : nil)
        return page.map { page in
            let entries = page.entries.map { entry in
                switch entry {
                case .message(let message): (message.body ?? "-") + (message.id < 0 ? "*" : "")
                case .gap(let gap): if case .unread = gap.reason { "[unread]" } else { "[missing]" }
                }
            }
            return ((page.hasOlder ? ["<"] : []) + entries + (page.hasNewer ? [">"] : [])).joined(separator: " ")
        }
    }

    @Test("a gap is in the page of the message that follows it: before, inside and after a place")
    func gaps() throws {
        let harness = try gapped()
        let (a1, a3, b5, b6) = try (id("a1", harness), id("a3", harness), id("b5", harness), id("b6", harness))
        #expect(try page(.newest, 9, harness) == "[missing] a1 a2 a3 [missing] b5 b6")
        #expect(try page(.newest, 2, harness) == "< [missing] b5 b6")
        #expect(try page(.newest, 1, harness) == "< b6")
        #expect(try page(.before(b5), 2, harness) == "< a2 a3 >")
        #expect(try page(.before(b5), 3, harness) == "[missing] a1 a2 a3 >")
        #expect(try page(.before(a1), 3, harness) == ">")
        #expect(try page(.after(a3), 1, harness) == "< [missing] b5 >")
        #expect(try page(.after(b5), 1, harness) == "< b6")
        #expect(try page(.after(b6), 1, harness) == "<")
        #expect(try page(.from(a3), 2, harness) == "< a3 [missing] b5 >")
        #expect(try page(.from(a1), 1, harness) == "[missing] a1 >")
        #expect(try page(.from(a1), 9, harness) == "[missing] a1 a2 a3 [missing] b5 b6")
        #expect(try page(.around(a3), 1, harness) == "< a2 a3 [missing] b5 >")
        #expect(try page(.around(a3), 2, harness) == "[missing] a1 a2 a3 [missing] b5 b6")
        #expect(try page(.around(a1), 0, harness) == "[missing] a1 >")
        // The gap at the end is seen where nothing is newer.
        try harness.database.execute("UPDATE catchup SET problem = 'timeout'")
        #expect(try page(.newest, 1, harness) == "< b6 [unread]")
        #expect(try page(.from(b5), 1, harness) == "< [missing] b5 >")
        #expect(try harness.shown(with: Self.romeo, limit: 2) == ["[not fetched]", "b5", "b6", "[unread]"])
    }

    @Test("pages that are read one after the other have each message and each gap once")
    func walking() throws {
        let harness = try gapped()
        for limit in 1...6 {
            var (pages, place): ([[HistoryReader.Entry]], ConversationPage.Place) = ([], .newest)
            let reader = Conversations(reading: harness.database, of: harness.account)
            while let page = try reader.page(with: try JID(Self.romeo), at: place, limit: limit) {
                pages.append(page.entries)
                guard page.hasOlder, let first = page.messages.first else { break }
                place = .before(first.id)
            }
            let all = try HistoryReader(harness.database).entries(
                of: harness.account, with: try JID(Self.romeo), limit: 100)
            #expect(Array(pages.reversed().joined()) == all)
        }
    }

    @Test("a place in no conversation, in another one, or of a message that is not shown, is none; any limit is one")
    func places() throws {
        let harness = try gapped()
        try harness.receive(ArchiveSyncTests.message("nurse", from: "nurse@example.net/x"))
        let (nurse, a1) = try (id("nurse", harness), id("a1", harness))
        for id in [nurse, 9999, -1, .max, .min] {
            for place: ConversationPage.Place in [.before(id), .after(id), .from(id), .around(id)] {
                #expect(try page(place, 3, harness) == nil)
            }
        }
        #expect(try page(.from(a1), .max, harness) == page(.newest, .max, harness))
        #expect(try page(.newest, -1, harness) == "<" && page(.from(a1), 0, harness) == ">")
        try harness.perform { step in _ = try Intents(step: step).perform(Forget(.row(a1)), id: "f") }
        #expect(try page(.from(a1), 3, harness) == nil)
    }

    @Test(
        "what waits in the mailbox is shown if it is asked for, at the newest end alone, and besides the stored messages"
    )
    func mailbox() throws {
        let harness = try gapped()
        for body in ["one", "two", "three"] {
            _ = try harness.directory.share(body, to: try JID(Self.romeo), clock: harness.clock.clock)
        }
        _ = try harness.directory.share("other", to: try JID("nurse@example.net"), clock: harness.clock.clock)
        let (a1, b5, b6) = try (id("a1", harness), id("b5", harness), id("b6", harness))
        #expect(try page(.newest, 2, harness) == "< [missing] b5 b6")
        #expect(try page(.newest, 2, harness, mailbox: true) == "< [missing] b5 b6 two* three*")
        #expect(try page(.after(b6), 9, harness, mailbox: true) == "< one* two* three*")
        #expect(try page(.around(b5), 1, harness, mailbox: true) == "< a3 [missing] b5 b6 three*")
        #expect(try page(.before(b6), 9, harness, mailbox: true)?.contains("*") == false)
        #expect(try page(.from(a1), 2, harness, mailbox: true) == "[missing] a1 a2 >")
        try harness.database.execute("UPDATE catchup SET problem = 'timeout'")
        #expect(try page(.newest, 1, harness, mailbox: true) == "< b6 [unread] three*")
    }

    @Test("a page costs the same in a long conversation")
    func cost() throws {
        let harness = try StepHarness()
        let reader = Conversations(reading: harness.database, of: harness.account)
        func cost(_ messages: ClosedRange<Int>) throws -> Double {
            try harness.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT \(messages.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(messages.upperBound))
                INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                    shown, reply_to, sent_at)
                SELECT 1, 'in', '\(Self.romeo)', i, '', 'm' || (i % 7), '\(Self.romeo)/x', 'juliet@example.org', 'chat', 'text', 1,
                    'm' || ((i + 1) % 7), i FROM n;
                """)
            let middle = try #require(
                try harness.number("SELECT id FROM message WHERE position = \(messages.upperBound / 2)"))
            return try ThreadCost.least(of: 3) {
                for place: ConversationPage.Place in [.newest, .before(middle), .after(middle), .around(middle)] {
                    let page = try reader.page(with: try JID(Self.romeo), at: place, limit: 30)
                    #expect(page?.messages.last?.answered != nil)
                }
            }
        }
        let (few, many) = (try cost(1...2_000), try cost(2_001...40_000))
        print("four pages of 30: \(few) s with 2,000 messages, \(many) s with 40,000")
        #expect(many < 6 * few)
    }
}
