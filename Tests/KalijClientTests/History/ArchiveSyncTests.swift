import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// After a bind without a resume the archive is read from the last stored id to the archive's end, page by page.
struct ArchiveSyncTests {
    /// A message of romeo's.
    static func message(_ body: String, from: String = "romeo@example.net/x") -> String {
        "<message from='\(from)' to='juliet@example.org' type='chat' id='m-\(body)'><body>\(body)</body></message>"
    }

    static func live(_ body: String, archive: String) -> String {
        message(body).replacing(
            "</message>",
            with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(archive)'/></message>")
    }

    static func lastPage(_ harness: StepHarness) throws -> String {
        let sql = "SELECT CAST(stanza AS TEXT) AS xml FROM queue WHERE xml LIKE '%urn:xmpp:mam:2%' ORDER BY id DESC"
        return try #require(try harness.text(sql))
    }

    @Test("pages are read to the end, then presence is announced, then messages archived in between are read")
    func pages() throws {
        let harness = try StepHarness.reading()
        #expect(try Self.lastPage(harness).contains("2026-11-07T12:00:00Z"), "the first login looks back 14 days")
        try harness.receive(try harness.archived("a1", Self.message("one")))
        try harness.receive(try harness.archived("a2", Self.message("two")))
        try harness.answerPage(last: "a2")
        #expect(try Self.lastPage(harness).contains("<after>a2</after>"))
        try harness.receive(try harness.archived("a3", Self.message("three")))
        #expect(try !harness.queue().contains("presence c"))
        try harness.answerPage(last: "a3", complete: true)
        #expect(try harness.queue().suffix(4) == ["presence c", "iq get query", "iq get pubsub", "iq set query"])
        #expect(try Self.lastPage(harness).contains("<after>a3</after>"))
        #expect(try harness.answerPage(complete: true).told == ["caught up"])
        #expect(try harness.history() == ["in one", "in two", "in three"])
    }

    @Test("the archive's order wins over the order of arrival; messages not in the archive come after")
    func order() throws {
        let harness = try StepHarness.reading()
        try harness.answerPage(complete: true)
        try harness.receive(Self.live("two", archive: "a2"))
        try harness.receive(Self.live("one", archive: "a1"))
        try harness.receive(Self.message("unarchived"))
        try harness.accept("mine")
        for (id, body) in [("a1", "one"), ("a2", "two"), ("a3", "three")] {
            try harness.receive(try harness.archived(id, Self.message(body)))
        }
        try harness.answerPage(last: "a3", complete: true)
        #expect(try harness.history() == ["in one", "in two", "in three", "in unarchived", "out mine (queued)"])
    }

    @Test("an archive that hides thousands of messages and moves an older one has no step move them all")
    func hiddenMessages() throws {
        let harness = try StepHarness.reading()
        try harness.answerPage(complete: true)
        try harness.receive(Self.live("two", archive: "a2"))
        try harness.receive(Self.live("one", archive: "a1"))
        for number in 0...MessageReader.maxUnshown { try harness.receive(Self.message("hidden \(number)")) }
        let places =
            "SELECT group_concat(position) FROM (SELECT position FROM message WHERE body LIKE 'hidden%' ORDER BY id)"
        let before = try harness.text(places)
        for (id, body) in [("a1", "one"), ("a2", "two"), ("a3", "three")] {
            try harness.receive(try harness.archived(id, Self.message(body)))
        }
        try harness.answerPage(last: "a3", complete: true)
        #expect(try harness.text(places) == before)
        let history = try harness.history()
        #expect(history.filter { !$0.contains("hidden") } == ["in one", "in two", "in three"])
    }

    @Test("own messages are recognized by their origin-id and settled; messages of other devices are stored as sent")
    func own() throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("mine").originID)
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.history() == ["out mine (sent)"])
        try harness.answerFeatures(archive: true)
        let origin = "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>"
        let mine = """
            <message from='juliet@example.org/balcony' to='romeo@example.net' type='chat' id='\(id)'><body>mine</body>\
            \(origin)</message>
            """
        #expect(try harness.receive(try harness.archived("a1", mine)).told == ["mine is acked"])
        // Another device that numbers its messages anew each day: both messages are kept.
        for archive in ["a2", "a3"] {
            let other = """
                <message from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='\(archive)'>\
                <body>\(archive)</body><origin-id xmlns='urn:xmpp:sid:0' id='1'/></message>
                """
            try harness.receive(try harness.archived(archive, other))
        }
        #expect(try harness.history() == ["out mine (acked)", "out a2 (acked)", "out a3 (acked)"])
    }

    @Test(
        "a result that does not belong to the open page is dropped",
        arguments: [
            ("from='juliet@example.org'", "queryid='guessed'"), ("from='mallory@example.net'", nil),
            ("from='example.org'", nil),
        ])
    func forged(from: String, query: String?) throws {
        let harness = try StepHarness.reading()
        var forged = try harness.archived("a1", Self.message("forged")).replacing(
            "from='juliet@example.org'", with: from)
        if let query { forged = forged.replacing(#/queryid='[^']*'/#, with: query) }
        #expect(try harness.receive(forged).told.isEmpty)
        let late = try harness.archived("a1", Self.message("forged"))
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        try harness.receive(late)
        #expect(try harness.history().isEmpty)
    }

    @Test("a message delivered before the archive was known gets its id there, and is not stored again")
    func unstamped() throws {
        let harness = try StepHarness.online()
        let message = Self.message("hello").replacing(
            "</message>", with: "<origin-id xmlns='urn:xmpp:sid:0' id='o1'/></message>")
        try harness.receive(message)
        try harness.answerFeatures(archive: true)
        try harness.receive(try harness.archived("a1", message))
        #expect(try harness.history() == ["in hello"])
        #expect(try harness.text("SELECT stanza_id FROM message") == "a1")
    }

    @Test("an archived error is no message")
    func archivedError() throws {
        let harness = try StepHarness.reading()
        try harness.receive(try harness.archived("a1", Self.message("mine").replacing("'chat'", with: "'error'")))
        #expect(try harness.history().isEmpty)
    }

    @Test("an own message that is accepted during the catch-up and archived in it keeps the archive's place")
    func acceptedMeanwhile() throws {
        let harness = try StepHarness.reading()
        try harness.answerPage(complete: true)
        let id = try #require(try harness.accept("mine").originID)
        try harness.write()
        try harness.receive(Self.live("answer", archive: "a2"))
        let mine =
            "<message from='juliet@example.org/balcony' to='romeo@example.net' id='\(id)'><body>mine</body></message>"
        try harness.receive(try harness.archived("a1", mine))
        try harness.receive(try harness.archived("a2", Self.message("answer")))
        try harness.answerPage(last: "a2", complete: true)
        #expect(try harness.history() == ["out mine (acked)", "in answer"])
    }

    @Test("reading the last messages again changes nothing if all of them were there")
    func nothingMissed() throws {
        let harness = try StepHarness.reading()
        let bodies = (1...5).map { "\($0)" }
        for body in bodies { try harness.receive(try harness.archived("a\(body)", Self.message(body))) }
        try harness.answerPage(last: "a5", complete: true)
        try harness.answerPage(complete: true)
        // The server's archive does not keep every message.
        try harness.receive(Self.message("unarchived"))
        let before = try harness.history()
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        for body in bodies.dropFirst() { try harness.receive(try harness.archived("a\(body)", Self.message(body))) }
        try harness.answerPage(last: "a5", complete: true)
        let after = try harness.history()
        #expect(after == before)
    }

    @Test(
        "a long catch-up goes on after presence: live messages are shown at once, and get their places later")
    func longCatchUp() throws {
        let harness = try StepHarness.reading()
        for page in 0..<5 {
            try harness.show((page * 100 + 1...page * 100 + 100).map { "a\($0)" })
            #expect(try !harness.queue().contains("presence c"))
            try harness.fin("page", last: "a\(page * 100 + 100)")
        }
        #expect(try harness.queue().suffix(4) == ["presence c", "iq get query", "iq get pubsub", "iq set query"])
        #expect(try harness.receive(Self.live("live", archive: "a502")).told == ["message live"])
        try harness.receive(Self.message("unarchived"))
        try harness.show(["a501"])
        try harness.receive(try harness.result("a502", "live"))
        #expect(try harness.fin("page", last: "a502", complete: true).told == ["caught up"])
        #expect(try harness.history().suffix(4) == ["in a500", "in a501", "in live", "in unarchived"])
    }
}
