import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0198, 5: the messages that a resumption settles, and the messages that leave again.
struct ResumingTests {
    /// Three messages written in a session; the server has acknowledged none.
    private func written() throws -> (harness: StepHarness, entries: [OutboundQueue.Entry]) {
        let harness = try StepHarness.caughtUp()
        for body in ["one", "two", "three"] { try harness.accept(body) }
        return (harness, try harness.write())
    }

    @Test(
        "<resumed/> settles exactly the acknowledged messages; the rest leaves again, the same bytes in the same order")
    func resumed() throws {
        let (harness, entries) = try written()
        let told = try harness.steps.resumed(try harness.steps.load().acknowledged.advanced()).told
        #expect(told == ["one is acked"])
        #expect(try harness.history() == ["out one (acked)", "out two (sent)", "out three (sent)"])
        // Messages that have left are first looked up in the archive (measured: ejabberd's count can be another
        // connection's).
        #expect(try harness.queue() == ["iq set query"])
        try harness.answerPage(complete: true)
        #expect(try harness.write().filter { $0.message != nil }.map(\.stanza) == entries.dropFirst().map(\.stanza))
        #expect(try harness.steps.load().resumeID == "session-1")
    }

    @Test("counts turn over at 2^32")
    func turningOver() throws {
        let (harness, _) = try written()
        try harness.database.execute("UPDATE session SET acknowledged = 4294967295")
        #expect(try harness.steps.resumed(HandledCount(1)).told == ["one is acked", "two is acked"])
        #expect(try harness.steps.load().acknowledged == HandledCount(1))
        try harness.answerPage(complete: true)
        #expect(try harness.queue().last == "message chat three")
    }

    @Test("a count that includes a request that has never left is that of another database")
    func uncountable() throws {
        let harness = try StepHarness.caughtUp()
        _ = try harness.steps.readArchive()
        let count = try harness.steps.load().acknowledged.advanced()
        #expect(throws: SessionError.self) { _ = try harness.steps.resumed(count) }
        try harness.write()
        _ = try harness.steps.resumed(count)
        #expect(try harness.steps.load().acknowledged == count)
    }

    @Test("messages shown by the archive are not sent again; the rest and new messages leave in order")
    func shownByTheArchive() throws {
        let (harness, _) = try written()
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.write()
        try harness.accept("four")
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'one'"))
        let one = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>one</body></message>"
        #expect(try harness.receive(try harness.archived("a1", one)).told == ["one is acked"])
        // Killed and resumed once more before the page's end: the server has counted the question alone.
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged.advanced())
        #expect(try harness.queue() == ["iq set query"])
        try harness.receive(try harness.archived("a1", one))
        try harness.answerPage(last: "a1", complete: true)
        #expect(try harness.queue() == ["iq set query"] + ["two", "three", "four"].map { "message chat \($0)" })
        try harness.write()
        try harness.acknowledgeAll()
        #expect(try harness.history() == ["one", "two", "three", "four"].map { "out \($0) (acked)" })
    }

    @Test("a count above the sent stanzas, or below the previous count, is refused and settles nothing")
    func impossible() throws {
        let (harness, _) = try written()
        let (before, acknowledged) = (try harness.dump(), try harness.steps.load().acknowledged)
        for count in [acknowledged.advanced(by: 4), HandledCount(acknowledged.value &- 1)] {
            #expect(throws: SessionError.self) { _ = try harness.steps.resumed(count) }
            #expect(throws: SessionError.self) { _ = try harness.steps.acknowledged(count) }
        }
        #expect(try harness.dump() == before)
        // The count of a lost session says nothing.
        #expect(try harness.steps.resumeFailed(acknowledged.advanced(by: 4)).told.isEmpty)
        #expect(try harness.queue().count == 3)
    }

    @Test(
        "a count that takes in a message that has never left is another's: an old copy of the database; nothing is settled"
    )
    func neverLeft() throws {
        let (harness, _) = try written()
        try harness.accept("four")
        let (before, count) = (try harness.dump(), try harness.steps.load().acknowledged.advanced(by: 4))
        #expect(throws: SessionError.self) { _ = try harness.steps.resumed(count) }
        #expect(try harness.dump() == before)
        #expect(try harness.steps.resumeFailed(count).told.isEmpty)
        #expect(
            try harness.history() == ["one (sent)", "two (sent)", "three (sent)", "four (queued)"].map { "out \($0)" })
        #expect(try harness.queue().count == 4)
    }

    @Test(
        "a failed resumption with h settles the acknowledged messages; the rest waits for the archive and is sent again"
    )
    func failedWithCount() throws {
        let (harness, _) = try written()
        let told = try harness.steps.resumeFailed(try harness.steps.load().acknowledged.advanced(by: 2)).told
        #expect(told == ["one is acked", "two is acked"])
        #expect(try harness.steps.load().resumeID == nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.queue() == ["iq get query"])
        try harness.answerFeatures(archive: true)
        try harness.answerPreferences("always")
        for body in ["one", "two"] { try harness.receive(try harness.archived(body, try harness.copy(of: body))) }
        try harness.answerPage(last: "two", complete: true)
        try harness.answerPage(complete: true)
        #expect(try harness.queue().last == "message chat three")
        #expect(try harness.history() == ["out one (acked)", "out two (acked)", "out three (sent)"])
    }

    // Simulation, seed 48: an account's first session, ended by the server before it had answered its first question.
    @Test(
        "a session lost before the server's features were known: its messages wait until the features are known",
        arguments: [true, false])
    func lostBeforeFeatures(_ hasArchive: Bool) throws {
        let harness = try StepHarness.online()
        try harness.accept("one")
        try harness.write()
        _ = try harness.steps.resumeFailed(HandledCount(0))
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.queue() == ["iq get query"])
        try harness.answerFeatures(archive: hasArchive)
        if hasArchive {
            #expect(try harness.queue().contains("message chat one") == false, "it waits")
            try harness.answerPreferences("always")
            try harness.answerPage(complete: true)
            try harness.answerPage(complete: true)
        }
        // An archive in which nothing was yet may have been emptied meanwhile.
        #expect(try harness.history() == ["out one (sent) unsettled"])
    }

    @Test(
        "a failed resumption without h: messages shown by the archive have arrived, the rest is sent again, in order, once"
    )
    func failedWithoutCount() throws {
        let (harness, _) = try written()
        #expect(try harness.steps.resumeFailed(nil).told.isEmpty)
        try harness.accept("four")
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.answerPreferences("always")
        for body in ["one", "two"] {
            #expect(
                try harness.receive(try harness.archived(body, try harness.copy(of: body))).told == ["\(body) is acked"]
            )
        }
        // Killed, and the new session resumed: messages are still held for the archive.
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.write().allSatisfy { $0.message == nil })
        try harness.answerPage(last: "two", complete: true)
        try harness.answerPage(complete: true)
        #expect(try harness.queue().suffix(2) == ["three", "four"].map { "message chat \($0)" })
    }

    @Test(
        "a failed resumption without an archive: sent messages stay sent and are reported once; the rest leaves"
    )
    func failedWithoutArchive() throws {
        let (harness, _) = try written()
        _ = try harness.steps.resumeFailed(nil)
        try harness.accept("four")
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.queue() == ["iq get query"])
        let id = try #require(try harness.questions("features").last)
        let told = try harness.receive(
            "<iq type='result' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>"
        ).told
        #expect(told.suffix(3) == ["one", "two", "three"].map { "\($0) is unsettled" })
        try harness.assumeAnswered(.bookmarks)
        #expect(try harness.queue().last == "message chat four")
        #expect(try harness.history().prefix(1) == ["out one (sent) unsettled"])
        #expect(try harness.steps.bound(harness.account.jid).told.isEmpty)
    }

    @Test("messages shown by the archive are not sent again, even if the connection ends before the page")
    func shownBeforeTheEnd() throws {
        let (harness, _) = try written()
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        for body in ["one", "two", "three"] {
            let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = '\(body)'"))
            let copy =
                "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>\(body)</body></message>"
            try harness.receive(try harness.archived("a-\(body)", copy))
        }
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.write().allSatisfy { $0.message == nil })
    }

    @Test("accepted messages that never left go out in the new session, in the order accepted")
    func queuedGoesOut() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("one")
        try harness.accept("two")
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.queue() == ["message chat one", "message chat two", "iq get query"])
        try harness.write()
        try harness.acknowledgeAll()
        #expect(try harness.history() == ["out one (acked)", "out two (acked)"])
    }

    @Test("a new session starts at zero and invalidates the questions of the previous session")
    func newSession() throws {
        let harness = try StepHarness.online()
        let question = try #require(try harness.questions("features").last)
        try harness.receive("<presence/>")
        try harness.bind(resumeID: "session-2", answered: .all)
        let session = try harness.steps.load()
        #expect((session.handled, session.acknowledged) == (.zero, .zero))
        #expect(session.resumeID == "session-2")
        #expect(try harness.questions("features").count == 1)
        #expect(try !harness.questions("features").contains(question))
    }

    @Test("the queue's ids are never used twice, because a connection remembers the last written id")
    func queueIDs() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("one")
        let last = try #require(try harness.write().last?.id)
        try harness.acknowledgeAll()
        #expect(try harness.queue().isEmpty)
        try harness.accept("two")
        let entries = try OutboundQueue(database: harness.database, account: harness.account.id).entries(
            after: last, limit: 9)
        #expect(entries.count == 1)
        #expect(try #require(entries.first).id > last)
    }

    @Test("without stream management a message that has left stays sent, and is reported at the next bind")
    func unmanaged() throws {
        let harness = try StepHarness.online(resumeID: nil)
        try harness.accept("one")
        _ = try harness.queueSteps.transmitted(try harness.write())
        #expect(try harness.queue().isEmpty)
        #expect(try harness.steps.bound(harness.account.jid).told == ["one is unsettled"])
    }

    @Test("a message keeps the newest id of the archive that was known when it first left")
    func anchor() throws {
        let harness = try StepHarness.caughtUp()
        for id in ["a1", "a2"] {
            try harness.receive(
                """
                <message from='romeo@example.net/x' id='\(id)'><body>\(id)</body>\
                <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(id)'/></message>
                """)
        }
        try harness.accept("one")
        try harness.write()
        try harness.receive(
            "<message from='a@b/c' id='3'><body>3</body><stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='a3'/></message>"
        )
        try harness.write()
        #expect(try harness.text("SELECT anchor FROM message WHERE body = 'one'") == "a2")
    }

    /// Rules.md, durability 6: chat states and presence are dropped, requests invalidated.
    @Test("a lost session drops other stanzas than messages")
    func ofTheMoment() throws {
        let harness = try StepHarness.caughtUp()
        _ = try harness.runner.run("application", for: harness.account) { step in
            for xml in [
                "<message to='a@b'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>",
                "<presence to='a@b'/>",
                "<iq type='get' id='1'><ping xmlns='urn:xmpp:ping'/></iq>",
            ] { try step.send(try Element.parse(StepHarness.inClient(xml))) }
        }
        try harness.write()
        #expect(try harness.queue().count == 3)
        // A resumed session goes on with all of them.
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.queue().prefix(3).count == 3)
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.queue() == ["iq get query"])
        try harness.acknowledgeAll()
        #expect(try harness.queue().isEmpty)
    }

    @Test("the archive is paged from the first unsettled message's anchor to the archive's end")
    func pagedFromTheAnchor() throws {
        let harness = try StepHarness.read(5)
        try harness.accept("mine")
        try harness.write()
        _ = try harness.steps.readArchive()
        try harness.show((2...30).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try harness.show((31...60).map { "a\($0)" }, at: "2026-11-21T11:00:10Z")
        try harness.fin("page", last: "a60", complete: true)
        _ = try harness.steps.readArchive()
        #expect(try harness.asked() == ["after a60"])
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        // From before a5, which shows that the archive reaches back so far.
        #expect(try harness.asked() == ["after a4"])
        try harness.answerPreferences("always")
        // "a lost anchor falls back to `start` with the server's time less 5 minutes"
        try harness.refuse("page", "item-not-found")
        #expect(try harness.asked() == ["from 2026-11-20T10:00:00Z"])
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'mine'"))
        try harness.show((1...60).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        let copy = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>mine</body></message>"
        #expect(try harness.receive(try harness.result("a61", xml: copy)).told == ["mine is acked"])
        try harness.fin("page", last: "a61", complete: true)
        try harness.fin("page", complete: true)
        #expect(try !harness.queue().contains("message chat mine"))
        #expect(try harness.history() == (1...60).map { "in a\($0)" } + ["out mine (acked)"])
    }

    @Test("a message that the recipient has, as the receipt says, is not failed by an error that comes later")
    func refusedAfterReceipt() throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("one").originID)
        try harness.write()
        try harness.receive(
            """
            <message from='romeo@example.net/x' type='chat'><received xmlns='urn:xmpp:receipts' id='\(id)'/></message>
            """)
        try harness.receive(
            """
            <message type='error' from='romeo@example.net' id='\(id)'><error type='wait'><remote-server-timeout \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """)
        #expect(try harness.history() == ["out one (delivered)"])
    }

    @Test(
        "a message refused by the recipient's server fails with the reason, even while it waits to be sent again")
    func refusedWhileHeld() throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("one").originID)
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        let error = """
            <message type='error' from='romeo@example.net' id='\(id)'><error type='cancel'><remote-server-not-found \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        #expect(try harness.receive(error).told == ["one is failed"])
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        #expect(try !harness.queue().contains("message chat one"))
        let message = try #require(
            try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 1).first)
        #expect((message.state, message.error?.description) == (.failed, "remote-server-not-found (cancel)"))
    }
}
