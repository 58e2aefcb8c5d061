import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Nothing is read twice: a reading begins after the messages that an earlier reading has shown in quiet.
struct ArchiveHorizonTests {
    /// The clock stands at 12:00:00.
    private static func stamp(_ second: Int) -> String {
        "2026-11-21T11:5\(8 + second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60)Z"
    }

    @Test("what was archived a minute before the reading began, by the server's time, is complete")
    func until() {
        #expect(ArchiveHorizon.until(serverTime: nil) == nil)
        #expect(ArchiveHorizon.until(serverTime: 100_000) == 40_000)
        #expect(ArchiveHorizon.until(last: (nil, 5), now: 100_000) == nil)
        #expect(ArchiveHorizon.until(last: (40_001, 5), now: 100_000) == nil)
        #expect(ArchiveHorizon.until(last: (40_000, 5), now: 100_000) == 5)
        #expect(ArchiveHorizon.until(last: (200_000, 5), now: 100_000) == nil, "a time from the future")
    }

    @Test("after a reading in quiet the next one begins after its last message, and shows nothing again")
    func quiet() throws {
        let harness = try StepHarness.read(130)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a130"])
        try harness.fin("page", complete: true)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a130"])
    }

    @Test("messages of the last minute are read again, from the last older one on; the next quiet reading ends that")
    func burst() throws {
        let harness = try StepHarness.reading()
        func show(_ numbers: ClosedRange<Int>) throws {
            for number in numbers { try harness.show(["a\(number)"], at: Self.stamp(number)) }
        }
        try show(50...100)
        try harness.fin("page", last: "a100", complete: true)
        try harness.fin("page", complete: true)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a98"], "two seconds are enough, as ever")
        try show(99...100)
        try harness.fin("page", last: "a100", complete: true)
        harness.clock.move(by: 50_000)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a98"])
        try show(99...100)
        try harness.fin("page", last: "a100", complete: true)
        #expect(try harness.history() == (50...100).map { "in a\($0)" })
        try harness.reconnect()
        #expect(try harness.asked() == ["after a100"])
    }

    @Test("a message archived late is found, because nothing is complete while the reading is not quiet")
    func late() throws {
        let harness = try StepHarness.reading()
        try harness.show(["a1", "a2", "a4"], at: Self.stamp(118))
        try harness.fin("page", last: "a4", complete: true)
        try harness.fin("page", complete: true)
        harness.clock.move(by: 70_000)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a1"])
        try harness.show(["a2", "a3", "a4"], at: Self.stamp(118))
        try harness.fin("page", last: "a4", complete: true)
        #expect(try harness.history() == ["in a1", "in a2", "in a3", "in a4"])
        try harness.reconnect()
        #expect(try harness.asked() == ["after a4"])
    }

    @Test("a broken reading is complete up to the message before its page's last, of which a twin may be missing")
    func twin() throws {
        let harness = try StepHarness.reading()
        try harness.show((1...5).map { "a\($0)" })
        try harness.fin("page", last: "a5")
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try harness.asked() == ["after a4"])
        try harness.show(["a5"])
        try harness.receive(
            try harness.result("a5", xml: ArchiveSyncTests.message("twin", from: "nurse@example.net/y")))
        try harness.fin("page", last: "a5", complete: true)
        #expect(try harness.history().suffix(2) == ["in a5", "in twin"])
        try harness.reconnect()
        #expect(try harness.asked() == ["after a5"])
    }

    @Test("what is not kept, such as receipts, is not read again either")
    func receipts() throws {
        let harness = try StepHarness.read(3)
        try harness.reconnect()
        let receipt =
            "<message from='romeo@example.net/x' to='juliet@example.org' id='r'><received xmlns='urn:xmpp:receipts' id='1'/></message>"
        for id in ["r1", "r2"] { try harness.receive(try harness.result(id, xml: receipt)) }
        try harness.fin("page", last: "r2", complete: true)
        try harness.reconnect()
        #expect(try harness.asked() == ["after r2"])
        try harness.receive(ArchiveSyncTests.live("a5", archive: "a5"))
        try harness.show(["a4"])
        // The connection breaks, and the page is asked for again.
        try harness.reconnect()
        #expect(try harness.asked() == ["after r2"])
        try harness.show(["a4", "a5"])
        try harness.fin("page", last: "a5", complete: true)
        #expect(try harness.history() == (1...5).map { "in a\($0)" })
    }

    @Test("an interrupted reading counts from its beginning, however long it takes")
    func interrupted() throws {
        let harness = try StepHarness.reading()
        for number in 58...62 { try harness.show(["a\(number)"], at: Self.stamp(number)) }
        try harness.fin("page", last: "a62")
        harness.clock.move(by: 3_600_000)
        try harness.reconnect()
        for number in 62...90 { try harness.show(["a\(number)"], at: Self.stamp(number)) }
        try harness.fin("page", last: "a90", complete: true)
        try harness.fin("page", complete: true)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a60"])
    }

    @Test("a server that sets its clock back, or does not tell the time, completes nothing", arguments: [true, false])
    func clock(tellsTime: Bool) throws {
        let harness = try StepHarness.reading(tellsTime: tellsTime)
        try harness.show(["a1", "a2"], at: "2026-11-20T10:00:00Z")
        try harness.show(["a3", "a4"], at: "2026-11-20T09:00:00Z")
        try harness.fin("page", last: "a4", complete: true)
        try harness.fin("page", complete: true)
        try harness.reconnect()
        #expect(try harness.asked() == ["after a1"])
    }

    @Test("a message that waits for the archive has its anchor shown, although it was complete")
    func anchor() throws {
        let harness = try StepHarness.read(3)
        try harness.accept("mine")
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.answerPreferences("always")
        #expect(try harness.asked() == ["after a2"])
        try harness.show(["a3"])
        try harness.fin("page", last: "a3", complete: true)
        try harness.fin("page", complete: true)
        #expect(try harness.queue().contains("message chat mine"), "a3 proves that the archive reaches back")
    }

    // MARK: Slow links

    @Test("a page has as many results as come in two seconds, or in eight if nobody looks, but five to a hundred")
    func pages() {
        func size(_ rate: Double?, _ bytes: Int64?, inactive: Bool = false) -> Int {
            PageSize.results(over: LinkQuality(bytesPerSecond: rate, isInactive: inactive), of: bytes)
        }
        #expect([size(nil, 600), size(.infinity, 600), size(1e9, 600), size(.nan, 600)] == [100, 100, 100, 100])
        #expect([size(4000, nil), size(4000, 400), size(4000, 400, inactive: true)] == [13, 20, 80])
        #expect([size(0, 600), size(-1, 600), size(1000, 600), size(4000, 0)] == [5, 5, 5, 100])
        #expect(PageSize.mean(nil, with: 500) == 500)
        #expect(PageSize.mean(500, with: 660) == 510)
    }

    @Test("pages of the archive go by the link and by the results seen, backwards, too")
    func sizes() throws {
        let harness = try StepHarness.read(3)
        harness.runner.links[harness.account.id] = LinkQuality(bytesPerSecond: 9000)
        _ = try harness.steps.readArchive()
        let bytes = try #require(try harness.number("SELECT result_bytes FROM catchup"))
        let xml = try Element.parse(StepHarness.inClient(try harness.result("a4")))
        let real = xml.bytes(in: "jabber:client").count
        #expect(abs(Double(bytes) / Double(real) - 1) < 0.35, "\(bytes) for \(real)")
        #expect(
            try harness.text("SELECT CAST(stanza AS TEXT) FROM queue ORDER BY id DESC")?.contains(
                "<max>\(18000 / bytes)</max>") == true)
        try harness.fin("page", complete: true)
        _ = try harness.want(older: 50)
        #expect(
            try harness.text("SELECT CAST(stanza AS TEXT) FROM queue ORDER BY id DESC")?.contains(
                "<max>\(18000 / bytes)</max>") == true)
    }

    @Test("over a slow link the reading after a resume is put off, unless messages wait for it or the time is short")
    func putOff() throws {
        let harness = try StepHarness.read(3)
        harness.runner.links[harness.account.id] = LinkQuality(bytesPerSecond: 4000)
        try harness.reconnect()
        #expect(try harness.questions("page").isEmpty)
        _ = try harness.steps.readArchive()
        #expect(try harness.asked() == ["after a3"])
        try harness.show(["a4"])
        try harness.reconnect()
        #expect(try harness.questions("page").count == 1, "an interrupted reading goes on")
        try harness.show(["a4"])
        try harness.fin("page", last: "a4", complete: true)
        harness.runner.isBrief = true
        try harness.reconnect()
        #expect(try harness.questions("page").count == 1)
        try harness.fin("page", complete: true)
        harness.runner.isBrief = false
        try harness.accept("mine")
        try harness.write()
        try harness.reconnect()
        #expect(try harness.questions("page").count == 1)
    }
}

extension StepHarness {
    /// The process dies, and the next one resumes the session.
    func reconnect() throws { _ = try steps.resumed(try steps.load().acknowledged) }
}
