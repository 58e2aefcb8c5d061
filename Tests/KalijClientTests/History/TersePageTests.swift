import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Archives that say less than XEP-0313 section 4.3.3 and XEP-0059 want: no `complete`, no `first` and `last`, no `<set/>`.
struct TersePageTests {
    enum Answer: String, CaseIterable {
        case count = "<set xmlns='http://jabber.org/protocol/rsm'><count>3</count></set>"
        case empty = "<set xmlns='http://jabber.org/protocol/rsm'/>"
        case nothing = ""
    }

    @discardableResult
    private func fin(_ kind: String, _ answer: Answer, _ harness: StepHarness, room: String? = nil) throws
        -> Step.Effects
    {
        let id = try #require(try harness.questions(kind, to: room).last)
        return try harness.receive(
            """
            <iq type='result' id='\(id)'\(room.map { " from='\($0)'" } ?? "")><fin xmlns='urn:xmpp:mam:2'>\(answer.rawValue)\
            </fin></iq>
            """)
    }

    @Test("XEP-0059 2.2: an empty page is the end, also of older history; no gap stands", arguments: Answer.allCases)
    func account(_ answer: Answer) throws {
        let harness = try StepHarness.reading()
        try harness.show(["a1", "a2", "a3"])
        try fin("page", answer, harness)
        #expect(try harness.asked() == ["after a3"], "the page ends with its last result")
        try fin("page", answer, harness)
        #expect(try fin("page", answer, harness).told == ["caught up"], "once more after presence")
        try fin("begin", answer, harness)
        #expect(try harness.shown() == ["a1", "a2", "a3"])
        _ = try harness.steps.readArchive()
        try harness.show(["a2", "a3", "a4"])
        try fin("page", answer, harness)
        #expect(try fin("page", answer, harness).told == ["caught up"])
        #expect(try harness.shown() == ["a1", "a2", "a3", "a4"])
    }

    @Test(
        "a result before the first reading is older history, and is fetched when asked for", arguments: Answer.allCases)
    func older(_ answer: Answer) throws {
        let harness = try StepHarness.reading()
        try harness.show(["a5"])
        for _ in 0..<3 { try fin("page", answer, harness) }
        let older = StepHarness.inClient(ArchiveSyncTests.message("a4"))
        try harness.receive(
            """
            <message from='juliet@example.org'><result xmlns='urn:xmpp:mam:2' queryid='begin' id='a4'>\
            <forwarded xmlns='urn:xmpp:forward:0'>\(older)</forwarded></result></message>
            """)
        try fin("begin", answer, harness)
        #expect(try harness.shown() == ["[not fetched]", "a5"])
        _ = try harness.want(older: 10)
        try harness.show(["a3", "a4"], of: "filling")
        try fin("filled", answer, harness)
        #expect(try fin("filled", answer, harness).told == ["filled 2"])
        #expect(try harness.shown() == ["a3", "a4", "a5"])
    }

    @Test("in a room, too", arguments: Answer.allCases)
    func room(_ answer: Answer) throws {
        let room = try RoomHarness()
        let harness = room.harness
        try room.describe(RoomHarness.group + ["urn:xmpp:mam:2"])
        try room.enter()
        try room.subject()
        let xml = "<message from='\(RoomHarness.room)/romeo' type='groupchat' id='m1'><body>one</body></message>"
        try harness.receive(try harness.result("r1", room: RoomHarness.room, xml: xml))
        try fin("page", answer, harness, room: RoomHarness.room)
        let told = try fin("page", answer, harness, room: RoomHarness.room).told
        #expect(told.contains("room \(RoomHarness.room)"))
        try fin("filled", answer, harness, room: RoomHarness.room)
        #expect(try harness.ranges(RoomHarness.room) == ["|r1...r1"])
        #expect(try !harness.shown(with: RoomHarness.room).contains("[unread]"))
    }

    @Test("a page that begins before the last message shows it again: the end is asked for behind it")
    func again() throws {
        let harness = try StepHarness.reading()
        try harness.show((1...5).map { "a\($0)" })
        try harness.fin("page", last: "a5")
        #expect(try harness.asked() == ["after a4"])
        try harness.show(["a5"])
        try harness.fin("page", last: "a5")
        #expect(try harness.asked() == ["after a5"])
        try harness.fin("page")
        #expect(try harness.fin("page").told == ["caught up"])
    }
}
