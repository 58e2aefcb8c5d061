import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 9: history is a set of ranges per archive; only a page extends a range; between them are gaps, which are listed.
struct RangeTests {
    @Test("only a page extends a range: live messages are the tail after the range")
    func tail() throws {
        let harness = try StepHarness.read(3)
        #expect(try harness.ranges() == ["a1...a3"])
        try harness.receive(ArchiveSyncTests.live("live", archive: "a4"))
        #expect(try harness.ranges() == ["a1...a3"])
        _ = try harness.steps.readArchive()
        try harness.show(["a2", "a3"])
        // Each result is a step of its own; the step of <fin/> moves the end.
        try harness.receive(try harness.result("a4", "live"))
        #expect(try harness.ranges() == ["a1...a3"])
        try harness.fin("page", last: "a4", complete: true)
        #expect(try harness.ranges() == ["a1...a4"])
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "live"])
    }

    @Test("the tail is live and acknowledged messages, not messages shown by a page")
    func tailCounts() throws {
        let harness = try StepHarness.read(1)
        #expect(try harness.receive(ArchiveSyncTests.live("live", archive: "a2")).tail == 1)
        #expect(try harness.receive(ArchiveSyncTests.live("live", archive: "a2")).tail == 0)
        for _ in 0..<3 { try harness.accept("mine") }
        try harness.write()
        let count = try harness.steps.load().acknowledged.advanced(by: UInt32(try harness.steps.queued()))
        #expect(try harness.steps.acknowledged(count).tail == 3)
        _ = try harness.steps.readArchive()
        #expect(try harness.receive(try harness.result("a3")).tail == 0)
    }

    @Test("the first login looks back as many days as the account says")
    func days() throws {
        let harness = try StepHarness()
        try harness.database.execute("UPDATE account SET history_days = 3")
        let account = try AccountTable(harness.database).account(nil, in: harness.directory)
        let steps = SessionSteps(runner: harness.runner, account: account)
        _ = try steps.bound(account.jid)
        _ = try steps.established(resumeID: nil)
        try harness.assumeAnswered(.time)
        let id = try #require(try harness.questions("features").last)
        let answer = """
            <iq type='result' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <feature var='urn:xmpp:mam:2'/></query></iq>
            """
        _ = try steps.handle(try Element.parse(StepHarness.inClient(answer)), count: nil)
        #expect(try harness.asked() == ["from 2026-11-18T12:00:00Z"])
        #expect(account.historyDays == 3)
    }

    @Test("an interrupted page is requested again, in another process, and leaves all messages in their places")
    func brokenPage() throws {
        let harness = try StepHarness.reading()
        try harness.show((1...6).map { "a\($0)" })
        try harness.fin("page", first: "a1", last: "a6")
        // The next page begins before the last message: a server that gives two messages the same id pages over both.
        #expect(try harness.asked() == ["after a5"])
        try harness.show(["a6", "a7", "a8"])
        #expect(try harness.ranges() == ["a1...a6"])
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.asked() == ["after a5"])
        let before = try harness.text("SELECT group_concat(position) FROM message")
        try harness.show(["a6", "a7", "a8"])
        #expect(try harness.text("SELECT group_concat(position) FROM message") == before)
        try harness.fin("page", last: "a8", complete: true)
        try harness.fin("page", complete: true)
        #expect(try harness.ranges() == ["a1...a8"])
        #expect(try harness.history() == (1...8).map { "in a\($0)" })
    }

    @Test("an interrupted page by time begins anew")
    func brokenFirstPage() throws {
        let harness = try StepHarness.reading()
        try harness.show(["a1", "a2"])
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.show(["a1", "a2", "a3"])
        try harness.fin("page", last: "a3", complete: true)
        #expect(try harness.ranges() == ["a1...a3"])
        #expect(try harness.history() == ["in a1", "in a2", "in a3"])
    }

    @Test("an archive that lost the cursor is asked by time; if it still shows messages of the range, there is no gap")
    func lostCursorOnly() throws {
        let harness = try StepHarness.read(3)
        try harness.receive(ArchiveSyncTests.live("live", archive: "a4"))
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.refuse("page", "item-not-found")
        #expect(try harness.asked() == ["from 2026-11-20T10:00:00Z"], "by the archive's stamps, not by our clock")
        try harness.show(["a2", "a3"])
        try harness.receive(try harness.result("a4", "live"))
        try harness.fin("page", last: "a4", complete: true)
        #expect(try harness.ranges() == ["a1...a4"])
        #expect(try harness.history() == ["in a1", "in a2", "in a3", "in live"])
    }

    @Test("an expired archive has a listed gap that cannot be filled; live messages go after the gap")
    func expired() throws {
        let harness = try StepHarness.read(3)
        try harness.receive(ArchiveSyncTests.live("b2", archive: "b2"))
        try harness.receive(ArchiveSyncTests.message("unarchived"))
        harness.clock.move(by: 60 * 24 * 3600 * 1000)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.refuse("page", "item-not-found")
        try harness.show(["b1", "b2"], at: "2027-01-01T00:00:00Z")
        try harness.fin("page", last: "b2", complete: true)
        try harness.fin("page", complete: true)
        #expect(try harness.ranges() == ["a1...a3", "|b1...b2"])
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "[lost]", "b1", "b2", "unarchived"])
        // The next round extends the new range.
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.asked() == ["after b2"])
        try harness.show(["b3"], at: "2027-01-02T00:00:00Z")
        try harness.fin("page", last: "b3", complete: true)
        #expect(try harness.ranges() == ["a1...a3", "|b1...b3"])
        #expect(try harness.shown().suffix(4) == ["b1", "b2", "b3", "unarchived"])
    }

    @Test("the reading after an expiry, interrupted in its first page, goes on with the same gap")
    func expiredAndBroken() throws {
        let harness = try StepHarness.read(3)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.refuse("page", "item-not-found")
        try harness.show(["b1", "b2"])
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.show(["b1", "b2", "b3"])
        try harness.fin("page", last: "b3", complete: true)
        #expect(try harness.ranges() == ["a1...a3", "|b1...b3"])
        #expect(try harness.shown().contains("[lost]"))
        let jump = try harness.number("SELECT max(position) - min(position) FROM message") ?? 0
        #expect(jump > 1 << 24 && jump < 1 << 25)
    }

    @Test(
        "messages that cannot be read are listed as a gap after the messages read",
        arguments: ["refused", "endless", "silent"])
    func unread(_ how: String) throws {
        let harness = try StepHarness.read(2)
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "[reading]"])
        try harness.receive(ArchiveSyncTests.live("live", archive: "a9"))
        switch how {
        case "refused": try harness.refuse("page", "forbidden", type: "auth")
        case "endless": try harness.fin("page", last: "a2")
        default: try harness.letExpire()
        }
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "[unread]", "live"])
        #expect(try harness.ranges() == ["a1...a2"])
        // The missing messages are read the next time, from the range's end.
        _ = try harness.steps.readArchive()
        #expect(try harness.asked() == ["after a2"])
    }

    @Test("an archive that shows the same page for ever is read no more")
    func samePage() throws {
        let harness = try StepHarness.reading()
        var told: [String] = []
        for _ in 0..<10 where told.isEmpty {
            try harness.show((1...5).map { "a\($0)" })
            told = try harness.fin("page", last: "a5").told
        }
        #expect(told == ["caught up: the server's archive ended a page without saying where it goes on"])
    }

    @Test("an archive that changes during the reading: messages added before the cursor are found by the next round")
    func changing() throws {
        let harness = try StepHarness.reading(tellsTime: false)
        try harness.show((1...60).filter { $0 != 55 }.map { "a\($0)" })
        try harness.fin("page", last: "a60", complete: true)
        try harness.fin("page", complete: true)
        // A worker of the server was late with a55; and a50 was removed.
        _ = try harness.steps.readArchive()
        let after = try #require(try harness.asked().first?.dropFirst("after a".count)).description
        let begin = try #require(Int(after))
        #expect(begin <= 40)
        try harness.show(((begin + 1)...60).filter { $0 != 50 }.map { "a\($0)" })
        try harness.fin("page", last: "a60", complete: true)
        #expect(try harness.history() == (1...60).map { "in a\($0)" })
        #expect(try harness.ranges() == ["a1...a60"])
    }

    @Test("messages with the same id in the archive are both stored, wherever a page ends")
    func twins() throws {
        let harness = try StepHarness.reading()
        try harness.show(["a1", "a2", "a3", "a4"])
        try harness.fin("page", last: "a4")
        #expect(try harness.asked() == ["after a3"])
        try harness.receive(try harness.result("a4"))
        try harness.receive(
            try harness.result("a4", xml: ArchiveSyncTests.message("twin", from: "nurse@example.net/y")))
        try harness.fin("page", last: "a4", complete: true)
        #expect(try harness.history() == ["in a1", "in a2", "in a3", "in a4", "in twin"])
    }

    @Test("a later message with the id of the archive's first message is found by the next reading")
    func twinOfTheFirst() throws {
        let harness = try StepHarness.read(3, tellsTime: false)
        try harness.database.execute("UPDATE archive_range SET bottom = 1")
        _ = try harness.steps.readArchive()
        #expect(try harness.asked() == ["from 2026-11-20T09:59:58Z"])
        try harness.show(["a1"])
        let twin = ArchiveSyncTests.message("twin", from: "nurse@example.net/x")
        try harness.receive(try harness.result("a1", xml: twin))
        try harness.show(["a2", "a3"])
        try harness.fin("page", first: "a1", last: "a3", complete: true)
        #expect(try harness.shown() == ["a1", "twin", "a2", "a3"])
        #expect(try harness.ranges() == ["|a1...a3"])
    }

    @Test(
        "an earlier message that an emptied archive adds after its first message is found by the next reading, and has its place"
    )
    func lateBeforeTheFirst() throws {
        let harness = try StepHarness.read(3)
        // Emptied: later messages were archived late, or not yet.
        try harness.receive(ArchiveSyncTests.live("a5", archive: "a5"))
        try harness.receive(ArchiveSyncTests.live("a6", archive: "a6"))
        _ = try harness.steps.readArchive()
        try harness.refuse("page", "item-not-found")
        try harness.show(["a6"], at: "2026-11-20T11:00:00Z")
        try harness.fin("page", first: "a6", last: "a6", complete: true)
        #expect(try harness.ranges() == ["a1...a3", "|a6...a6"])

        _ = try harness.steps.readArchive()
        #expect(try harness.asked() == ["from 2026-11-20T10:59:58Z"])
        try harness.show(["a5", "a6"], at: "2026-11-20T11:00:00Z")
        try harness.fin("page", first: "a5", last: "a6", complete: true)
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "[lost]", "a5", "a6"])
        #expect(try harness.ranges() == ["a1...a3", "|a5...a6"])
    }
}
