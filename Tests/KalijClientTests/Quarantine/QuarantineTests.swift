import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 2: no stanza blocks an account.
struct QuarantineTests {
    @Test("a stanza over a limit is set aside with its first 64 KiB and counts as handled")
    func skipped() throws {
        let harness = try StepHarness.caughtUp()
        let parser = StreamParser()
        let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        let body = String(repeating: "x", count: 2 << 20)
        var skipped: SkippedElement?
        for piece in [header, "<message from='mallory@example.net/x'><body>", body, "</body></message>"] {
            try parser.feed(Array(piece.utf8)) { if case .skipped(let element) = $0 { skipped = element } }
        }
        let stanza = QuarantinedStanza(try #require(skipped))
        let count = try harness.steps.load().handled.advanced()
        #expect(
            try harness.steps.quarantine(stanza, count: count).told == ["quarantined: over the limit on stanza-bytes"])
        #expect(try harness.steps.load().handled == count)
        #expect(try harness.number("SELECT length(stanza) FROM quarantine") == 65536)
        #expect(try harness.number("SELECT size > 2000000 FROM quarantine WHERE sender = 'mallory@example.net/x'") == 1)
    }

    /// A stanza over the limit, from the parser.
    private func skipped(_ start: String, _ end: String) throws -> QuarantinedStanza {
        let parser = StreamParser()
        var skipped: SkippedElement?
        let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        for piece in [header, start, String(repeating: "x", count: 1 << 20), end] {
            try parser.feed(Array(piece.utf8)) { if case .skipped(let element) = $0 { skipped = element } }
        }
        return QuarantinedStanza(try #require(skipped))
    }

    private func setAside(_ stanza: QuarantinedStanza, at harness: StepHarness) throws {
        _ = try harness.steps.quarantine(stanza, count: try harness.steps.load().handled.advanced())
    }

    private func result(_ id: String, query: String, from sender: String, to: String = "juliet@example.org/balcony")
        -> String
    {
        """
        <message to='\(to)'><result xmlns='urn:xmpp:mam:2' queryid='\(query)' id='\(id)'><forwarded \
        xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2026-11-20T10:00:00Z'/>\
        <message xmlns='jabber:client' from='\(sender)' id='a>b'><body>
        """
    }

    private let end = "</body></message></forwarded></result></message>"

    @Test("a stanza that an archive shows again and again is set aside once, in any wrapper")
    func archivedAgain() throws {
        let harness = try StepHarness.caughtUp()
        for reading in 0..<5 {
            let start = result(
                "a1", query: "query-\(reading)", from: "mallory@example.net/x", to: "juliet@example.org/\(reading)")
            try setAside(try skipped(start, end), at: harness)
        }
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 1)
        #expect(try harness.text("SELECT author || archive || archive_id FROM quarantine") == "mallory@example.neta1")
        // Some archives give two messages one id.
        try setAside(try skipped(result("a1", query: "q", from: "romeo@example.net/x"), end), at: harness)
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 2)
        // Only the account's server speaks for the account's archive.
        let forged = result("a1", query: "q", from: "romeo@example.net/x").replacing(
            "<message to", with: "<message from='m@e.net' to")
        try setAside(try skipped(forged, end), at: harness)
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 3)
    }

    @Test("without a readable archive's id, a stanza is recognized by its bytes without the query's id")
    func archivedUnread() throws {
        let harness = try StepHarness.reading()
        for reading in 0..<5 {
            try harness.database.execute("UPDATE catchup SET query_id = 'query-number-\(reading)'")
            let start = "<message><m:result xmlns:m='urn:xmpp:mam:2' queryid='query-number-\(reading)' id='a1'>"
            try setAside(try skipped(start, "</m:result></message>"), at: harness)
        }
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 1)
        #expect(try harness.number("SELECT archive_id IS NULL FROM quarantine") == 1)
    }

    @Test("a page that is read five times, with an unprocessed stanza, gives one row")
    func readAgain() throws {
        let harness = try StepHarness.reading()
        for _ in 0..<5 {
            let message = "<message from='mallory@example.net/x' type='chat' id='m'><body>boo</body></message>"
            let stanza = try Element.parse(StepHarness.inClient(try harness.archived("a1", message)))
            try setAside(QuarantinedStanza(stanza, attempts: 3), at: harness)
            try harness.answerPage(complete: true)
            _ = try harness.steps.readArchive()
        }
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 1)
    }

    @Test("a stranger's flood pushes out the stranger's own stanzas, and no others")
    func flood() throws {
        let harness = try StepHarness.caughtUp()
        func send(_ number: Int, from sender: String) throws {
            let stanza = try Element.parse("<message from='\(sender)' id='\(number)'/>")
            try setAside(QuarantinedStanza(stanza, attempts: 3), at: harness)
        }
        for number in 0..<5 { try send(number, from: "romeo@example.net/orchard") }
        for number in 0..<1100 { try send(number, from: "mallory@example.net/\(number)") }
        #expect(try harness.number("SELECT count(*) FROM quarantine WHERE author = 'romeo@example.net'") == 5)
        #expect(try harness.number("SELECT count(*) FROM quarantine") == 1000)
        #expect(try harness.number("SELECT max(id) FROM quarantine") == 1105)
    }

    @Test("an attempt is counted for the same stanza of the same session only")
    func attempts() throws {
        let harness = try StepHarness.caughtUp()
        let attempts = Attempts(runner: harness.runner, account: harness.account)
        #expect(try attempts.begin(HandledCount(7)) == 1)
        #expect(try attempts.begin(HandledCount(7)) == 2)
        #expect(try attempts.begin(HandledCount(8)) == 1)
        #expect(try attempts.begin(HandledCount(8)) == 2)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try attempts.begin(HandledCount(8)) == 1)
    }

    @Test("an error of the machine is no attempt")
    func machineErrors() throws {
        let harness = try StepHarness.caughtUp()
        let attempts = Attempts(runner: harness.runner, account: harness.account)
        for _ in 0..<10 {
            #expect(try attempts.begin(HandledCount(7)) == 1)
            #expect(attempts.revertLast())
        }
    }
}
