import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient

/// Rule 2: no stanza blocks an account.
struct QuarantineTests {
    @Test("a stanza over a limit is set aside with its first 64 KiB and counts as handled")
    func skipped() throws {
        let desk = try Desk.caughtUp()
        let parser = StreamParser()
        let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        let body = String(repeating: "x", count: 2 << 20)
        var skipped: SkippedElement?
        for piece in [header, "<message from='mallory@example.net/x'><body>", body, "</body></message>"] {
            try parser.feed(Array(piece.utf8)) { if case .skipped(let element) = $0 { skipped = element } }
        }
        let stanza = QuarantinedStanza(try #require(skipped))
        let count = try desk.steps.load().handled.advanced()
        #expect(try desk.steps.quarantine(stanza, count: count).told == ["quarantined: over the limit on stanza-bytes"])
        #expect(try desk.steps.load().handled == count)
        #expect(try desk.number("SELECT length(stanza) FROM quarantine") == 65536)
        #expect(try desk.number("SELECT size > 2000000 FROM quarantine WHERE sender = 'mallory@example.net/x'") == 1)
    }

    @Test("an attempt is counted for the same stanza of the same session only")
    func attempts() throws {
        let desk = try Desk.caughtUp()
        let attempts = Attempts(runner: desk.runner, account: desk.account)
        #expect(try attempts.begin(HandledCount(7)) == 1)
        #expect(try attempts.begin(HandledCount(7)) == 2)
        #expect(try attempts.begin(HandledCount(8)) == 1)
        #expect(try attempts.begin(HandledCount(8)) == 2)
        try desk.bind(resumeID: "session-2")
        #expect(try attempts.begin(HandledCount(8)) == 1)
    }

    @Test("what the machine is to blame for is no attempt")
    func machineErrors() throws {
        let desk = try Desk.caughtUp()
        let attempts = Attempts(runner: desk.runner, account: desk.account)
        for _ in 0..<10 {
            #expect(try attempts.begin(HandledCount(7)) == 1)
            #expect(attempts.takeBack())
        }
    }
}
