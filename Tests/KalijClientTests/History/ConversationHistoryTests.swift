import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Older history of one conversation (XEP-0313 `with`): by pages, each message once, in the archive's order, and nothing of others.
struct ConversationHistoryTests {
    private static let romeo = "romeo@example.net"

    private func message(_ body: String, from: String = Self.romeo) -> String {
        "<message from='\(from)/x' to='juliet@example.org' type='chat' id='m-\(body)'><body>\(body)</body></message>"
    }

    @discardableResult
    private func want(_ harness: StepHarness, older: Int, with jid: String = Self.romeo) throws -> Step.Effects {
        try harness.runner.run("application", for: harness.account) {
            try $0.fetchHistory(older: older, with: try JID(jid))
        }
    }

    private func result(
        _ harness: StepHarness, _ id: String, _ xml: String? = nil, by archive: String? = nil,
        at stamp: String = "2026-11-01T10:00:00Z"
    ) throws -> String {
        let query = try harness.text("SELECT query_id FROM conversation_history WHERE query_id IS NOT NULL") ?? "none"
        return """
            <message from='\(archive ?? "juliet@example.org")'><result xmlns='urn:xmpp:mam:2' queryid='\(query)' id='\(id)'>\
            <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='\(stamp)'/>\
            \(StepHarness.inClient(xml ?? message(id)))</forwarded></result></message>
            """
    }

    private func show(_ harness: StepHarness, _ ids: [String]) throws {
        for id in ids { try harness.receive(try result(harness, id)) }
    }

    private func with(_ harness: StepHarness) throws -> String? {
        try harness.lastPage().child("query", "urn:xmpp:mam:2")?.child("x", "jabber:x:data")?.children
            .first { $0["var"] == "with" }?.child("value", "jabber:x:data")?.text
    }

    private func beginning(_ harness: StepHarness, _ jid: String = Self.romeo) throws -> OlderHistory.State? {
        try Conversations(reading: harness.database, of: harness.account).page(with: JID(jid), limit: 1000)?.beginning
    }

    @Test("one page before the oldest message is read, of this conversation alone, and stored before it")
    func page() throws {
        let harness = try StepHarness.read(3)
        #expect(try beginning(harness) == .available)
        try want(harness, older: 3)
        #expect(try with(harness) == Self.romeo)
        #expect(try harness.asked() == ["before a1"])
        #expect(try beginning(harness) == .reading)
        try show(harness, ["r1", "r2", "r3"])
        #expect(try harness.fin("conversation", first: "r1", last: "r3").told == ["filled 3"])
        #expect(try harness.shown(with: Self.romeo) == ["[not fetched]", "r1", "r2", "r3", "a1", "a2", "a3"])
        #expect(try beginning(harness) == .available)
        #expect(try harness.ranges() == ["a1...a3"], "the archive was not read without a gap")
        try want(harness, older: 10)
        #expect(try harness.asked() == ["before r1"])
        try show(harness, ["q1", "q2", "q3", "q4"])
        try harness.fin("conversation", first: "q1", last: "q4")
        #expect(try harness.asked() == ["before q2"], "a twin of the first message would be left out")
        try show(harness, ["p1", "q1"])
        #expect(try harness.fin("conversation", first: "p1", last: "q1", complete: true).told == ["filled 5"])
        let all = ["p1", "q1", "q2", "q3", "q4", "r1", "r2", "r3", "a1", "a2", "a3"]
        #expect(try harness.shown(with: Self.romeo) == all, "the conversation begins here")
        #expect(try beginning(harness) == .complete)
        #expect(try want(harness, older: 5).told == ["filled 0"], "the archive is not queried again")
    }

    @Test("if the first reading found nothing, older messages end where it began")
    func nothingRead() throws {
        let harness = try StepHarness.caughtUp()
        try harness.database.run("UPDATE catchup SET since = ?", [.integer(1_700_000_000_000)])
        try want(harness, older: 3)
        let form = try harness.lastPage().child("query", "urn:xmpp:mam:2")?.child("x", "jabber:x:data")
        let end = form?.children.first { $0["var"] == "end" }?.child("value", "jabber:x:data")?.text
        #expect(end?.hasPrefix("2023-11-14T22:13:20") == true)
    }

    @Test("what was read is neither unread nor notified")
    func quiet() throws {
        let harness = try StepHarness.read(1)
        let before = try harness.number("SELECT count(*) FROM notification")
        try want(harness, older: 1)
        try show(harness, ["r1"])
        try harness.fin("conversation", first: "r1", last: "r1", complete: true)
        #expect(try harness.number("SELECT count(*) FROM notification") == before)
        #expect(
            try Conversations(reading: harness.database, of: harness.account).conversation(with: JID(Self.romeo)).unread
                == 0)
    }

    @Test("a backfill of the whole archive moves the messages to their places, once")
    func backfill() throws {
        let harness = try StepHarness.read(2)
        try want(harness, older: 2)
        try show(harness, ["r1", "r2"])
        try harness.fin("conversation", first: "r1", last: "r2")
        _ = try harness.want(older: 100)
        for (id, from) in [("r1", Self.romeo), ("n1", "nurse@example.net"), ("r2", Self.romeo)] {
            try harness.receive(try harness.result(id, of: "filling", xml: message(id, from: from)))
        }
        try harness.fin("filled", first: "r1", last: "r2")
        #expect(try harness.history() == ["in r1", "in n1", "in r2", "in a1", "in a2"])
        try want(harness, older: 2)
        #expect(try harness.asked() == ["before r1"])
        try show(harness, ["q1"])
        try harness.fin("conversation", first: "q1", last: "q1", complete: true)
        #expect(try harness.shown(with: Self.romeo) == ["q1", "r1", "r2", "a1", "a2"])
        #expect(try harness.shown(with: "nurse@example.net") == ["[not fetched]", "n1"])
    }

    @Test("a lost session repeats the page; each message is stored once")
    func lostSession() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 10)
        try show(harness, ["r1", "r2"])
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.fin("page", complete: true)
        try harness.fin("page", complete: true)
        #expect(try with(harness) == Self.romeo)
        try show(harness, ["r1", "r2", "r3"])
        try harness.fin("conversation", first: "r1", last: "r3", complete: true)
        #expect(try harness.shown(with: Self.romeo) == ["r1", "r2", "r3", "a1"])
    }

    @Test("a request during another one is part of it")
    func once() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 1)
        let count = try harness.questions("conversation").count
        try want(harness, older: 1)
        #expect(try harness.questions("conversation").count == count)
    }

    @Test("an error ends the reading, with its reason; it may be requested again")
    func refused() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 1)
        let told = try harness.refuse("conversation", "internal-server-error", type: "wait").told
        #expect(told.count == 1 && told[0].hasPrefix("filled 0: "))
        guard case .failed = try beginning(harness) else { Issue.record("no failure"); return }
        try want(harness, older: 1)
        #expect(try beginning(harness) == .reading)
        #expect(try harness.letExpire().contains("filled 0: the server does not answer"))
    }

    @Test("an archive that has lost the oldest message is read by time")
    func lostCursor() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 1)
        try harness.refuse("conversation", "item-not-found")
        #expect(try harness.asked() == ["before", "until 2026-11-20T10:00:01Z"])
        try show(harness, ["r1", "a1"])
        try harness.fin("conversation", first: "r1", last: "a1", complete: true)
        #expect(try harness.shown(with: Self.romeo) == ["r1", "a1"])
    }

    @Test("a page by time shows a message that is newer than those read: it is new to the next reading")
    func newerByTime() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 1)
        try harness.refuse("conversation", "item-not-found")
        try show(harness, ["r1"])
        try harness.receive(try result(harness, "a1", at: "2026-11-20T10:00:00Z"))
        try harness.receive(try result(harness, "a2", at: "2026-11-20T10:00:00.500Z"))
        #expect(try harness.fin("conversation", first: "r1", last: "a2", complete: true).told == ["filled 1"])
        #expect(try harness.shown(with: Self.romeo) == ["r1", "a1"])
        try harness.reconnect()
        try harness.show(["a2"])
        #expect(try harness.fin("page", last: "a2", complete: true).told == ["caught up"])
        #expect(try harness.shown(with: Self.romeo) == ["r1", "a1", "a2"])
    }

    @Test("a room's history is that of its archive")
    func room() throws {
        let harness = try StepHarness.read(1)
        try harness.database.execute(
            "INSERT INTO catchup(account, archive, number, phase, since) VALUES (1, 'room@muc.example.org', 1, 'done', 1)"
        )
        #expect(try beginning(harness, "room@muc.example.org") == .available)
    }

    // MARK: Hostile archives

    @Test("messages of other conversations, of another archive and of no query are not stored")
    func others() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 5)
        let page = try result(harness, "n1", message("n1", from: "nurse@example.net"))
        try harness.receive(page)
        try harness.receive(try result(harness, "x1", by: Self.romeo))
        try harness.receive(page.replacing("queryid='", with: "queryid='x"))
        try harness.fin("conversation", first: "n1", last: "n1", complete: true)
        try harness.receive(page)
        #expect(try harness.history() == ["in a1"])
        #expect(try beginning(harness) == .complete)
    }

    @Test("pages that never end do not end in a loop")
    func endless() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 5)
        var count = 0
        while try !harness.questions("conversation").isEmpty, count < 100 {
            // The first message differs each time, and nothing is shown.
            try harness.fin("conversation", first: "f\(count)", last: "l\(count)")
            count += 1
        }
        #expect(count == 20)
        #expect(try beginning(harness) == .available)
    }

    @Test("the same page forever ends with an error", arguments: [["r1"], ["r1", "r2", "r3", "r4", "r5"]])
    func same(ids: [String]) throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 100)
        var (count, told) = (0, [String]())
        while try !harness.questions("conversation").isEmpty, count < 100 {
            try show(harness, ids)
            told += try harness.fin("conversation", first: ids.first, last: ids.last).told
            count += 1
        }
        #expect(count <= 4)
        #expect(try harness.shown(with: Self.romeo) == ["[not fetched]"] + ids + ["a1"])
        #expect(told.last?.hasPrefix("filled \(ids.count): the server's archive ended a page") ?? false)
    }

    @Test("a page with more results than requested extends nothing")
    func tooMany() throws {
        let harness = try StepHarness.read(1)
        try want(harness, older: 5)
        try show(harness, (0..<1001).map { "r\($0)" })
        let told = try harness.fin("conversation", first: "r0", last: "r1000").told
        #expect(told == ["filled 1000: the server's archive shows more than it was asked for"])
    }
}
