import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// "First login takes the last N days and fills older history on demand", going backwards; gaps between ranges too.
struct FillingTests {
    /// A desk with the ranges a1...a3 and b5...b6 and a gap in between that the archive can fill.
    private func gapped() throws -> Desk {
        let desk = try Desk.read(3)
        try desk.bind(resumeID: "session-2")
        try desk.answerFeatures(archive: true)
        try desk.refuse("page", "item-not-found")
        try desk.show(["b5", "b6"], at: "2026-11-21T10:00:00Z")
        try desk.fin("page", last: "b6", complete: true)
        try desk.fin("page", complete: true)
        try desk.database.execute("UPDATE archive_range SET bottom = 0")
        try desk.acknowledgeAll()
        return desk
    }

    @Test("older messages come before the first range, page by page, up to the wanted number")
    func older() throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 7)
        #expect(try desk.asked() == ["before a1"])
        try desk.show((6...10).map { "z\($0)" } + ["a1"], of: "filling")
        // Each result is a step of its own; the step of <fin/> moves the beginning.
        #expect(try desk.ranges() == ["a1...a3"])
        #expect(try desk.fin("filled", first: "z6", last: "a1").told.isEmpty)
        #expect(try desk.ranges() == ["z6...a3"])
        #expect(try desk.asked() == ["before z7"], "a twin of the first message would be left out")
        try desk.show((2...6).map { "z\($0)" }, of: "filling")
        #expect(try desk.fin("filled", first: "z2", last: "z6").told == ["filled 9"])
        #expect(try desk.history() == ((2...10).map { "in z\($0)" } + (1...3).map { "in a\($0)" }))
        #expect(try desk.shown().first == "[not fetched]")
    }

    @Test("at the archive's beginning there is no gap any more")
    func begin() throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 1000)
        try desk.show(["z1"], of: "filling")
        #expect(try desk.fin("filled", first: "z1", last: "z1", complete: true).told == ["filled 1"])
        #expect(try desk.ranges() == ["|z1...a3"])
        #expect(try desk.shown() == ["z1", "a1", "a2", "a3"])
        #expect(try desk.want(older: 5).told == ["filled 0"], "nobody is asked")
    }

    @Test("an account without any reading gets the newest page first")
    func withoutRange() throws {
        let desk = try Desk.caughtUp()
        try desk.receive(CatchUpTests.message("live"))
        _ = try desk.want(older: 50)
        #expect(try desk.asked() == ["before"])
        try desk.show(["z1", "z2"], of: "filling")
        try desk.fin("filled", first: "z1", last: "z2", complete: true)
        #expect(try desk.shown() == ["z1", "z2", "live"])
        let empty = try Desk.caughtUp()
        _ = try empty.want(older: 50)
        #expect(try empty.fin("filled", complete: true).told == ["filled 0"])
    }

    @Test("a gap is filled backwards up to the range before; then both ranges become one")
    func gap() throws {
        let desk = try gapped()
        #expect(try desk.shown() == ["[not fetched]", "a1", "a2", "a3", "[not fetched]", "b5", "b6"])
        _ = try desk.want(gaps: true)
        #expect(try desk.asked() == ["before b5", "from 2026-11-20T10:00:00Z"])
        try desk.show(["b3", "b4"], of: "filling")
        try desk.fin("filled", first: "b3", last: "b4")
        #expect(try desk.ranges() == ["a1...a3", "b3...b6"])
        try desk.show(["a3", "b1", "b2"], of: "filling")
        #expect(try desk.fin("filled", first: "a3", last: "b2").told == ["filled 4"])
        #expect(try desk.ranges() == ["a1...b6"])
        #expect(try desk.shown() == ["[not fetched]", "a1", "a2", "a3", "b1", "b2", "b3", "b4", "b5", "b6"])
    }

    @Test(
        "a gap in which the archive has nothing more is closed, and listed as lost if the ranges do not meet")
    func lostGap() throws {
        let desk = try gapped()
        _ = try desk.want(gaps: true)
        try desk.show(["b4"], of: "filling")
        #expect(try desk.fin("filled", first: "b4", last: "b4", complete: true).told == ["filled 1"])
        #expect(try desk.ranges() == ["a1...a3", "|b4...b6"])
        #expect(try desk.shown() == ["[not fetched]", "a1", "a2", "a3", "[lost]", "b4", "b5", "b6"])
    }

    @Test("an interrupted backfill goes on in another process and a new session, after the end of the archive was read")
    func interrupted() throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 100)
        try desk.show(["z8", "z9"], of: "filling")
        let late = try desk.result("z9", of: "filling")
        try desk.bind(resumeID: "session-2")
        #expect(try desk.receive(late).told.isEmpty)
        try desk.answerFeatures(archive: true)
        try desk.answerPage(complete: true)
        try desk.answerPage(complete: true)
        #expect(try desk.asked() == ["before a1"])
        try desk.show(["z7", "z8", "z9"], of: "filling")
        try desk.fin("filled", first: "z7", last: "z9", complete: true)
        #expect(try desk.history() == ["z7", "z8", "z9", "a1", "a2", "a3"].map { "in \($0)" })
        #expect(
            try HistoryReader(desk.database).fetching(of: desk.account)
                == .init(isDone: true, messages: 3, problem: nil))
    }

    @Test(
        "a gap that cannot be filled stays a gap, with the reason",
        arguments: ["endless", "refused", "silent", "again"])
    func problem(_ how: String) throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 100)
        let told: [String]
        switch how {
        case "endless": told = try desk.fin("filled").told
        case "refused": told = try desk.refuse("filled", "not-allowed").told
        case "silent": told = try desk.letExpire()
        default: told = try desk.fin("filled", first: "a1", last: "a1").told
        }
        #expect(told.count == 1 && told.allSatisfy { $0.hasPrefix("filled 0: ") }, "\(told)")
        #expect(try desk.shown().first == "[not fetched]")
        #expect(try desk.questions("filled").isEmpty)
    }

    @Test("a server that shows ten times more than requested does not hide a gap")
    func tooMuch() throws {
        let desk = try Desk.read(1)
        _ = try desk.want(older: 10)
        try desk.show((1...1001).map { "z\($0)" }, of: "filling")
        let told = try desk.fin("filled", first: "z1", last: "z1001").told
        #expect(told == ["filled 1000: the server's archive shows more than it was asked for"])
        #expect(try desk.ranges() == ["a1...a1"])
        #expect(try desk.shown().contains("[not fetched]"))
    }

    @Test("an archive that has lost the first message is asked up to its time")
    func lostFirst() throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 100)
        try desk.refuse("filled", "item-not-found")
        #expect(try desk.asked() == ["before", "until 2026-11-20T10:00:01Z"])
        try desk.fin("filled", complete: true)
        #expect(try desk.shown() == ["a1", "a2", "a3"])
    }

    @Test("a message that came live before is put into its place")
    func knownBefore() throws {
        let desk = try Desk.caughtUp()
        try desk.receive(CatchUpTests.live("z2", archive: "z2"))
        _ = try desk.steps.readArchive()
        try desk.show(["a1"])
        try desk.fin("page", last: "a1", complete: true)
        _ = try desk.want(older: 10)
        try desk.show(["z1", "z2"], of: "filling")
        #expect(try desk.fin("filled", first: "z1", last: "z2", complete: true).told == ["filled 1"])
        #expect(try desk.shown() == ["z1", "z2", "a1"])
    }

    @Test("a result counts only for the open page", arguments: ["juliet@example.org", "mallory@example.net"])
    func forged(_ from: String) throws {
        let desk = try Desk.read(3)
        _ = try desk.want(older: 10)
        let forged = try desk.result("z1", of: "filling").replacing("from='juliet@example.org'", with: "from='\(from)'")
            .replacing(#/queryid='[^']*'/#, with: from.hasPrefix("juliet") ? "queryid='guessed'" : "queryid='x'")
        try desk.receive(forged)
        #expect(try desk.history().count == 3)
    }

    @Test("a server without an archive has no older history")
    func withoutArchive() throws {
        let desk = try Desk.online()
        try desk.answerFeatures(archive: false)
        #expect(try desk.want(older: 10).told == ["filled 0: the server has no archive"])
        #expect(try desk.shown().isEmpty)
    }

    @Test("whether messages exist before the first reading is found out once; if not, no gap is shown")
    func nothingBefore() throws {
        let desk = try Desk.read(2)
        #expect(try desk.shown() == ["[not fetched]", "a1", "a2"])
        let id = try #require(try desk.questions("begin").last)
        try desk.receive(
            """
            <iq type='result' id='\(id)'><fin xmlns='urn:xmpp:mam:2' complete='true'>\
            <set xmlns='http://jabber.org/protocol/rsm'><count>0</count></set></fin></iq>
            """)
        #expect(try desk.shown() == ["a1", "a2"])
        let empty = try Desk.reading()
        for _ in 0..<2 { try empty.answerPage(complete: true) }
        try empty.fin("begin", complete: true)
        #expect(try empty.shown().isEmpty)
        _ = try empty.steps.readArchive()
        #expect(try empty.asked().isEmpty, "from the begin on")
        try empty.show(["a1"])
        try empty.fin("page", last: "a1", complete: true)
        #expect(try empty.ranges() == ["|a1...a1"])
        let more = try Desk.read(2)
        try more.fin("begin", first: "z9", last: "z9")
        #expect(try more.shown().first == "[not fetched]")
        _ = try more.steps.readArchive()
        try more.fin("page", last: "a2", complete: true)
        #expect(try more.questions("begin").isEmpty)
    }
}
