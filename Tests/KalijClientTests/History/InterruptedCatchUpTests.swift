import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An interrupted catch-up leaves no gap, and never hangs.
struct InterruptedCatchUpTests {
    private static func message(_ body: String) -> String { ArchiveSyncTests.message(body) }

    @Test("an interrupted catch-up goes on in another process, from the rows alone")
    func resumedElsewhere() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        let other = SessionSteps(
            runner: StepRunner(
                database: try Database(path: harness.directory.databasePath, durability: .process),
                fence: harness.fence,
                barrier: Barrier(harness.database), clock: harness.clock.clock,
                features: try Features()),
            account: harness.account)
        let result = try Element.parse(StepHarness.inClient(try harness.archived("a2", Self.message("two"))))
        _ = try other.handle(result, count: try other.load().handled.advanced())
        try harness.answerPage(last: "a2", complete: true)
        #expect(try harness.history() == ["in one", "in two"])
        #expect(try harness.text("SELECT cursor FROM catchup") == "a2")
    }

    @Test("a catch-up lost between presence and the second reading does not skip messages archived in between")
    func lostInTheMiddle() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.answerPage(last: "a1", complete: true)
        // a2 to a40 were archived before the server knew of our presence; then 60 were delivered, and the session is lost.
        for number in 41...100 { try harness.receive(ArchiveSyncTests.live("\(number)", archive: "a\(number)")) }
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a1</after>"))
        for number in 2...100 { try harness.receive(try harness.archived("a\(number)", Self.message("\(number)"))) }
        try harness.answerPage(last: "a100", complete: true)
        try harness.answerPage(complete: true)
        #expect(try harness.history() == ["in one"] + (2...100).map { "in \($0)" })
    }

    @Test("a refused catch-up tells the reason and announces presence; the next catch-up begins where this one stopped")
    func refused() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.answerPage(last: "a1")
        let id = try #require(try harness.questions("page").last)
        let told = try harness.receive(
            """
            <iq type='error' id='\(id)'><error type='wait'><internal-server-error \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """
        ).told
        #expect(told == ["caught up: the server's archive refused: internal-server-error (wait)"])
        #expect(try harness.queue().suffix(3) == ["presence c", "iq get query", "iq get pubsub"])
        for number in 30...60 { try harness.receive(ArchiveSyncTests.live("\(number)", archive: "a\(number)")) }
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a1</after>"))
    }

    @Test("an archive that lost the cursor's message is asked by time, from the last message shown")
    func lostCursor() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.answerPage(last: "a1", complete: true)
        try harness.answerPage(complete: true)
        harness.clock.move(by: 40 * 24 * 3600 * 1000)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a1</after>"))
        let id = try #require(try harness.questions("page").last)
        try harness.receive(
            """
            <iq type='error' id='\(id)'><error type='cancel'><item-not-found \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("2026-11-20T10:00:00Z"), "by the archive's own stamps")
        try harness.receive(try harness.archived("b1", Self.message("two")))
        try harness.answerPage(last: "b1", complete: true)
        #expect(try harness.answerPage(complete: true).told == ["caught up"])
        #expect(try harness.history() == ["in one", "in two"])
    }

    @Test(
        "a page that shows nothing, and names the message behind which it was asked for, ends the catch-up, with the reason"
    )
    func endlessPage() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.answerPage(last: "a1")
        let told = try harness.answerPage(last: "a1").told
        #expect(told == ["caught up: the server's archive ended a page without saying where it goes on"])
        #expect(try harness.queue().suffix(3) == ["presence c", "iq get query", "iq get pubsub"])
        #expect(try harness.questions("page").isEmpty)
    }

    @Test(
        "a server without an archive gets presence at once; an error of a server with an archive does not end the trust"
    )
    func withoutArchive() throws {
        let harness = try StepHarness.online()
        try harness.answerFeatures(archive: false)
        #expect(try harness.queue().suffix(3) == ["presence c", "iq get pubsub", "iq get query"])
        let known = try StepHarness.caughtUp()
        try known.bind(resumeID: "session-2", answered: .all)
        let id = try #require(try known.questions("features").last)
        try known.receive("<iq type='error' id='\(id)'><error type='wait'/></iq>")
        try known.receive(ArchiveSyncTests.live("one", archive: "a1"))
        #expect(try known.text("SELECT stanza_id FROM message") == "a1")
    }

    @Test("the last messages of a page are read again, and live messages do not count as read")
    func overlap() throws {
        let harness = try StepHarness.reading(tellsTime: false)
        for number in 1...50 {
            let stamp = "2026-11-20T10:00:\(9 + number)Z"
            try harness.receive(try harness.archived("a\(number)", Self.message("\(number)"), at: stamp))
        }
        try harness.answerPage(last: "a50", complete: true)
        try harness.answerPage(complete: true)
        for number in 60...99 { try harness.receive(ArchiveSyncTests.live("\(number)", archive: "a\(number)")) }
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a47</after>"))
    }

    /// Found by killing: ejabberd 23.01 archived a message 28 messages and 31 ms after the messages at its place.
    @Test("messages archived within two seconds are read again, but 140 messages are enough")
    func lateness() throws {
        let harness = try StepHarness.reading(tellsTime: false)
        for number in 1...99 {
            let stamp = number < 30 ? "2026-11-20T10:00:00Z" : "2026-11-20T10:00:10Z"
            try harness.receive(try harness.archived("a\(number)", Self.message("\(number)"), at: stamp))
        }
        try harness.answerPage(last: "a99", complete: true)
        try harness.answerPage(complete: true)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(
            try ArchiveSyncTests.lastPage(harness).contains("<after>a1</after>"),
            "a40 is not two seconds before the end")
        for number in 100...330 { try harness.receive(try harness.archived("a\(number)", Self.message("\(number)"))) }
        try harness.answerPage(last: "a330", complete: true)
        try harness.answerPage(complete: true)
        try harness.bind(resumeID: "session-3", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a100</after>"))
    }

    /// Found by killing: a process was killed while a reading from far back moved messages, and the next session's
    /// reading began at a later place.
    @Test("a reading that has begun to move messages into the archive's order begins there again in the next session")
    func moving() throws {
        let harness = try StepHarness.read(5, tellsTime: false)
        try harness.accept("mine")
        try harness.write()
        _ = try harness.steps.readArchive()
        try harness.show((2...30).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.show((31...45).map { "a\($0)" }, at: "2026-11-21T11:00:10Z")
        try harness.show((46...60).map { "a\($0)" }, at: "2026-11-21T11:00:20Z")
        try harness.fin("page", last: "a60", complete: true)
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'mine'"))
        let copy = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>mine</body></message>"

        try nextSession("session-2", harness)
        #expect(try harness.asked() == ["after a4"], "mine may be behind a5")
        try harness.show(["a5", "late"], at: "2026-11-21T11:00:00Z")
        try harness.receive(try harness.result("own", xml: copy))
        try harness.show(["a6", "a7"], at: "2026-11-21T11:00:00Z")

        try nextSession("session-3", harness)
        #expect(try harness.asked() == ["after a4"])
        try harness.show(["a5", "late"], at: "2026-11-21T11:00:00Z")
        try harness.receive(try harness.result("own", xml: copy))
        try harness.show((6...60).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.fin("page", last: "a60", complete: true)
        try harness.fin("page", complete: true)
        let bodies = (1...5).map { "in a\($0)" } + ["in late", "out mine (acked)"] + (6...60).map { "in a\($0)" }
        #expect(try harness.history() == bodies)
    }

    @Test("the same after some pages, whatever order numbers the remaining messages have")
    func movingOn() throws {
        let harness = try StepHarness.read(5, tellsTime: false)
        try harness.accept("first")
        try harness.write()
        _ = try harness.steps.readArchive()
        try harness.show((2...30).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.fin("page", last: "a30", complete: true)
        try harness.accept("second")
        try harness.write()
        _ = try harness.steps.readArchive()
        try harness.show((2...40).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.show((41...50).map { "a\($0)" }, at: "2026-11-21T11:00:10Z")
        try harness.show((51...60).map { "a\($0)" }, at: "2026-11-21T11:00:20Z")
        try harness.fin("page", last: "a60", complete: true)
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'first'"))
        let copy = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>first</body></message>"

        try nextSession("session-2", harness)
        #expect(try harness.asked() == ["after a4"])
        try harness.show(["a5", "late"], at: "2026-11-21T11:00:00Z")
        try harness.receive(try harness.result("own", xml: copy))
        try harness.show((6...10).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.fin("page", last: "a10")
        try harness.show(["a11"], at: "2026-11-21T11:00:00Z")

        // The second message left when a30 was the newest; the order number of a30 is still smaller than the numbers of
        // moved messages.
        try nextSession("session-3", harness)
        #expect(try harness.asked() == ["after a4"])
        try harness.show(["a5", "late"], at: "2026-11-21T11:00:00Z")
        try harness.receive(try harness.result("own", xml: copy))
        try harness.show((6...60).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.fin("page", last: "a60", complete: true)
        try harness.fin("page", complete: true)
        let bodies = (1...5).map { "in a\($0)" } + ["in late", "out first (acked)"] + (6...60).map { "in a\($0)" }
        #expect(try harness.history().prefix(62) == bodies[...])
    }

    private func nextSession(_ resumeID: String, _ harness: StepHarness) throws {
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: resumeID, answered: .all)
        try harness.answerFeatures(archive: true)
    }

    /// Found by killing, too.
    @Test("after an interrupted reading, messages archived before its cursor are found by the next reading")
    func pinned() throws {
        let harness = try StepHarness.reading(tellsTime: false)
        try show(1...45, on: harness)
        try harness.answerPage(last: "a45")
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a44</after>"))
        try show(46...99, on: harness)
        try harness.answerPage(last: "a99", complete: true)
        try harness.answerPage(complete: true)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a43</after>"))
    }

    /// Messages of the open page, archived a second apart.
    private func show(_ numbers: ClosedRange<Int>, on harness: StepHarness) throws {
        for number in numbers {
            let (minute, second) = (number / 60, number % 60)
            let stamp = "2026-11-20T10:0\(minute):\(second < 10 ? "0" : "")\(second)Z"
            try harness.receive(try harness.archived("a\(number)", Self.message("\(number)"), at: stamp))
        }
    }

    @Test("a server that never answers keeps neither presence nor messages waiting for ever", arguments: [true, false])
    func unanswered(features: Bool) throws {
        let harness = try StepHarness.online()
        if features { try harness.answerFeatures(archive: true) }
        #expect(try harness.letExpire() == ["caught up: the server does not answer"])
        #expect(try harness.queue().contains("presence c"))
        #expect(try harness.questions("page").isEmpty && harness.questions("features").isEmpty)
        #expect(try harness.letExpire().isEmpty)
        let held = try StepHarness.caughtUp()
        try held.accept("one")
        try held.write()
        _ = try held.steps.resumed(try held.steps.load().acknowledged)
        #expect(try held.queue() == ["iq set query"])
        try held.letExpire()
        #expect(try held.queue() == ["iq set query", "message chat one"])
    }

    @Test("after a resume, unanswered questions are asked again, and the rest is read from the cursor")
    func afterResume() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.answerPage(last: "a1")
        let lost = try harness.archived("a2", Self.message("two"))
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.questions("page").count == 1)
        #expect(try ArchiveSyncTests.lastPage(harness).contains("<after>a1</after>"))
        // Late results of the abandoned page do not count for the new page.
        #expect(try harness.receive(lost).told.isEmpty)
        try harness.receive(try harness.archived("a2", Self.message("two")))
        try harness.answerPage(last: "a2", complete: true)
        try harness.answerPage(complete: true)
        #expect(try harness.history() == ["in one", "in two"])
    }
}
