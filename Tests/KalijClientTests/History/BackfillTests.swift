import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "First login takes the last N days and fills older history on demand", going backwards; gaps between ranges too.
struct BackfillTests {
    /// A harness with the ranges a1...a3 and b5...b6 and a gap in between that the archive can fill.
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

    @Test("older messages come before the first range, page by page, up to the wanted number")
    func older() throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 7)
        #expect(try harness.asked() == ["before a1"])
        try harness.show((6...10).map { "z\($0)" } + ["a1"], of: "filling")
        // Each result is a step of its own; the step of <fin/> moves the beginning.
        #expect(try harness.ranges() == ["a1...a3"])
        #expect(try harness.fin("filled", first: "z6", last: "a1").told.isEmpty)
        #expect(try harness.ranges() == ["z6...a3"])
        #expect(try harness.asked() == ["before z7"], "a twin of the first message would be left out")
        try harness.show((2...6).map { "z\($0)" }, of: "filling")
        #expect(try harness.fin("filled", first: "z2", last: "z6").told == ["filled 9"])
        #expect(try harness.history() == ((2...10).map { "in z\($0)" } + (1...3).map { "in a\($0)" }))
        #expect(try harness.shown().first == "[not fetched]")
    }

    @Test("at the archive's beginning there is no gap any more")
    func begin() throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 1000)
        try harness.show(["z1"], of: "filling")
        #expect(try harness.fin("filled", first: "z1", last: "z1", complete: true).told == ["filled 1"])
        #expect(try harness.ranges() == ["|z1...a3"])
        #expect(try harness.shown() == ["z1", "a1", "a2", "a3"])
        #expect(try harness.want(older: 5).told == ["filled 0"], "nobody is asked")
    }

    @Test("an account without any reading gets the newest page first")
    func withoutRange() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(ArchiveSyncTests.message("live"))
        _ = try harness.want(older: 50)
        #expect(try harness.asked() == ["before"])
        try harness.show(["z1", "z2"], of: "filling")
        try harness.fin("filled", first: "z1", last: "z2", complete: true)
        #expect(try harness.shown() == ["z1", "z2", "live"])
        let empty = try StepHarness.caughtUp()
        _ = try empty.want(older: 50)
        #expect(try empty.fin("filled", complete: true).told == ["filled 0"])
    }

    @Test("a gap is filled backwards up to the range before; then both ranges become one")
    func gap() throws {
        let harness = try gapped()
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "[not fetched]", "b5", "b6"])
        _ = try harness.want(gaps: true)
        #expect(try harness.asked() == ["before b5", "from 2026-11-20T10:00:00Z"])
        try harness.show(["b3", "b4"], of: "filling")
        try harness.fin("filled", first: "b3", last: "b4")
        #expect(try harness.ranges() == ["a1...a3", "b3...b6"])
        try harness.show(["a3", "b1", "b2"], of: "filling")
        #expect(try harness.fin("filled", first: "a3", last: "b2").told == ["filled 4"])
        #expect(try harness.ranges() == ["a1...b6"])
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "b1", "b2", "b3", "b4", "b5", "b6"])
    }

    @Test(
        "a gap in which the archive has nothing more is closed, and listed as lost if the ranges do not meet")
    func lostGap() throws {
        let harness = try gapped()
        _ = try harness.want(gaps: true)
        try harness.show(["b4"], of: "filling")
        #expect(try harness.fin("filled", first: "b4", last: "b4", complete: true).told == ["filled 1"])
        #expect(try harness.ranges() == ["a1...a3", "|b4...b6"])
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2", "a3", "[lost]", "b4", "b5", "b6"])
    }

    @Test("an interrupted backfill goes on in another process and a new session, after the end of the archive was read")
    func interrupted() throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 100)
        try harness.show(["z8", "z9"], of: "filling")
        let late = try harness.result("z9", of: "filling")
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.receive(late).told.isEmpty)
        try harness.answerFeatures(archive: true)
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        #expect(try harness.asked() == ["before a1"])
        try harness.show(["z7", "z8", "z9"], of: "filling")
        try harness.fin("filled", first: "z7", last: "z9", complete: true)
        #expect(try harness.history() == ["z7", "z8", "z9", "a1", "a2", "a3"].map { "in \($0)" })
        #expect(
            try HistoryReader(harness.database).fetching(of: harness.account)
                == .init(isDone: true, messages: 3, problem: nil))
    }

    @Test(
        "a gap that cannot be filled stays a gap, with the reason",
        arguments: ["endless", "refused", "silent", "again"])
    func problem(_ how: String) throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 100)
        let told: [String]
        switch how {
        case "endless": told = try harness.fin("filled", last: "z9").told
        case "refused": told = try harness.refuse("filled", "not-allowed").told
        case "silent": told = try harness.letExpire()
        default: told = try harness.fin("filled", first: "a1", last: "a1").told
        }
        #expect(told.count == 1 && told.allSatisfy { $0.hasPrefix("filled 0: ") }, "\(told)")
        #expect(try harness.shown().first == "[not fetched]")
        #expect(try harness.questions("filled").isEmpty)
    }

    @Test("a server that shows ten times more than requested does not hide a gap")
    func tooMuch() throws {
        let harness = try StepHarness.read(1)
        _ = try harness.want(older: 10)
        try harness.show((1...1001).map { "z\($0)" }, of: "filling")
        let told = try harness.fin("filled", first: "z1", last: "z1001").told
        #expect(told == ["filled 1000: the server's archive shows more than it was asked for"])
        #expect(try harness.ranges() == ["a1...a1"])
        #expect(try harness.shown().contains("[not fetched]"))
    }

    @Test("an archive that has lost the first message is asked up to its time")
    func lostFirst() throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 100)
        try harness.refuse("filled", "item-not-found")
        #expect(try harness.asked() == ["before", "until 2026-11-20T10:00:01Z"])
        try harness.fin("filled", complete: true)
        #expect(try harness.shown() == ["a1", "a2", "a3"])
    }

    @Test("a page by time shows a message that is newer than those read: it is new to the next reading")
    func newerByTime() throws {
        let harness = try StepHarness.read(1)
        _ = try harness.want(older: 1)
        try harness.refuse("filled", "item-not-found")
        try harness.show(["r1"], of: "filling", at: "2026-11-01T10:00:00Z")
        try harness.show(["a1"], of: "filling")
        try harness.show(["a2"], of: "filling", at: "2026-11-20T10:00:00.500Z")
        try harness.fin("filled", first: "r1", last: "a2", complete: true)
        #expect(try harness.history() == ["in r1", "in a1"])
        try harness.reconnect()
        try harness.show(["a2"])
        try harness.fin("page", last: "a2", complete: true)
        #expect(try harness.history() == ["in r1", "in a1", "in a2"])
    }

    @Test("a message that came live before is put into its place")
    func knownBefore() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(ArchiveSyncTests.live("z2", archive: "z2"))
        _ = try harness.steps.readArchive()
        try harness.show(["a1"])
        try harness.fin("page", last: "a1", complete: true)
        _ = try harness.want(older: 10)
        try harness.show(["z1", "z2"], of: "filling")
        #expect(try harness.fin("filled", first: "z1", last: "z2", complete: true).told == ["filled 1"])
        #expect(try harness.shown() == ["z1", "z2", "a1"])
    }

    @Test("a result counts only for the open page", arguments: ["juliet@example.org", "mallory@example.net"])
    func forged(_ from: String) throws {
        let harness = try StepHarness.read(3)
        _ = try harness.want(older: 10)
        let forged = try harness.result("z1", of: "filling").replacing(
            "from='juliet@example.org'", with: "from='\(from)'"
        )
        .replacing(#/queryid='[^']*'/#, with: from.hasPrefix("juliet") ? "queryid='guessed'" : "queryid='x'")
        try harness.receive(forged)
        #expect(try harness.history().count == 3)
    }

    @Test("a server without an archive has no older history")
    func withoutArchive() throws {
        let harness = try StepHarness.online()
        try harness.answerFeatures(archive: false)
        #expect(try harness.want(older: 10).told == ["filled 0: the server has no archive"])
        #expect(try harness.shown().isEmpty)
    }

    @Test("whether messages exist before the first reading is found out once; if not, no gap is shown")
    func nothingBefore() throws {
        let harness = try StepHarness.read(2)
        #expect(try harness.shown() == ["[not fetched]", "a1", "a2"])
        let id = try #require(try harness.questions("begin").last)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><fin xmlns='urn:xmpp:mam:2' complete='true'>\
            <set xmlns='http://jabber.org/protocol/rsm'><count>0</count></set></fin></iq>
            """)
        #expect(try harness.shown() == ["a1", "a2"])
        let empty = try StepHarness.reading()
        for _ in 0..<2 { try empty.answerPage(complete: true) }
        try empty.fin("begin", complete: true)
        #expect(try empty.shown().isEmpty)
        _ = try empty.steps.readArchive()
        #expect(try empty.asked().isEmpty, "from the begin on")
        try empty.show(["a1"])
        try empty.fin("page", last: "a1", complete: true)
        #expect(try empty.ranges() == ["|a1...a1"])
        let more = try StepHarness.read(2)
        try more.fin("begin", first: "z9", last: "z9")
        #expect(try more.shown().first == "[not fetched]")
        _ = try more.steps.readArchive()
        try more.fin("page", last: "a2", complete: true)
        #expect(try more.questions("begin").isEmpty)
    }
}
