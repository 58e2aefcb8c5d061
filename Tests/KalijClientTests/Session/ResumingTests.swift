import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// XEP-0198, 5: the messages that a resumption settles, and the messages that leave again.
struct ResumingTests {
    /// Three messages written in a session; the server has acknowledged none.
    private func written() throws -> (desk: Desk, entries: [OutboundQueue.Entry]) {
        let desk = try Desk.caughtUp()
        for body in ["one", "two", "three"] { try desk.accept(body) }
        return (desk, try desk.write())
    }

    @Test(
        "<resumed/> settles exactly the acknowledged messages; the rest leaves again, the same bytes in the same order")
    func resumed() throws {
        let (desk, entries) = try written()
        let told = try desk.steps.resumed(try desk.steps.load().acknowledged.advanced()).told
        #expect(told == ["one is acked"])
        #expect(try desk.history() == ["out one (acked)", "out two (sent)", "out three (sent)"])
        // Messages that have left are first looked up in the archive (measured: ejabberd's count can be another
        // connection's).
        #expect(try desk.queue() == ["iq set query"])
        try desk.answerPage(complete: true)
        #expect(try desk.write().filter { $0.message != nil }.map(\.stanza) == entries.dropFirst().map(\.stanza))
        #expect(try desk.steps.load().resumeID == "session-1")
    }

    @Test("counts turn over at 2^32")
    func turningOver() throws {
        let (desk, _) = try written()
        try desk.database.execute("UPDATE session SET acknowledged = 4294967295")
        #expect(try desk.steps.resumed(HandledCount(1)).told == ["one is acked", "two is acked"])
        #expect(try desk.steps.load().acknowledged == HandledCount(1))
        try desk.answerPage(complete: true)
        #expect(try desk.queue().last == "message chat three")
    }

    @Test("messages shown by the archive are not sent again; the rest and new messages leave in order")
    func shownByTheArchive() throws {
        let (desk, _) = try written()
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        try desk.accept("four")
        let id = try #require(try desk.text("SELECT origin_id FROM message WHERE body = 'one'"))
        let one = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>one</body></message>"
        #expect(try desk.receive(try desk.archived("a1", one)).told == ["one is acked"])
        // Killed and resumed once more before the page's end: the server has counted the question alone.
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged.advanced())
        #expect(try desk.queue() == ["iq set query"])
        try desk.receive(try desk.archived("a1", one))
        try desk.answerPage(last: "a1", complete: true)
        #expect(try desk.queue() == ["iq set query"] + ["two", "three", "four"].map { "message chat \($0)" })
        try desk.write()
        try desk.acknowledgeAll()
        #expect(try desk.history() == ["one", "two", "three", "four"].map { "out \($0) (acked)" })
    }

    @Test("a count above the sent stanzas, or below the previous count, is refused and settles nothing")
    func impossible() throws {
        let (desk, _) = try written()
        let (before, acknowledged) = (try desk.dump(), try desk.steps.load().acknowledged)
        for count in [acknowledged.advanced(by: 4), HandledCount(acknowledged.value &- 1)] {
            #expect(throws: SessionError.self) { _ = try desk.steps.resumed(count) }
            #expect(throws: SessionError.self) { _ = try desk.steps.acknowledged(count) }
        }
        #expect(try desk.dump() == before)
        // The count of a lost session says nothing.
        #expect(try desk.steps.resumeFailed(acknowledged.advanced(by: 4)).told.isEmpty)
        #expect(try desk.queue().count == 3)
    }

    @Test(
        "a failed resumption with h settles the acknowledged messages; the rest waits for the archive and is sent again"
    )
    func failedWithCount() throws {
        let (desk, _) = try written()
        let told = try desk.steps.resumeFailed(try desk.steps.load().acknowledged.advanced(by: 2)).told
        #expect(told == ["one is acked", "two is acked"])
        #expect(try desk.steps.load().resumeID == nil)
        try desk.bind(resumeID: "session-2")
        #expect(try desk.queue() == ["iq get query"])
        try desk.answerFeatures(archive: true)
        try desk.answerPreferences("always")
        for body in ["one", "two"] { try desk.receive(try desk.archived(body, try desk.copy(of: body))) }
        try desk.answerPage(last: "two", complete: true)
        try desk.answerPage(complete: true)
        #expect(try desk.queue().last == "message chat three")
        #expect(try desk.history() == ["out one (acked)", "out two (acked)", "out three (sent)"])
    }

    // Simulation, seed 48: an account's first session, ended by the server before it had answered its first question.
    @Test(
        "a session lost before the server's features were known: its messages wait until the features are known",
        arguments: [true, false])
    func lostBeforeFeatures(_ hasArchive: Bool) throws {
        let desk = try Desk.online()
        try desk.accept("one")
        try desk.write()
        _ = try desk.steps.resumeFailed(HandledCount(0))
        try desk.bind(resumeID: "session-2")
        #expect(try desk.queue() == ["iq get query"])
        try desk.answerFeatures(archive: hasArchive)
        if hasArchive {
            #expect(try desk.queue().contains("message chat one") == false, "it waits")
            try desk.answerPreferences("always")
            try desk.answerPage(complete: true)
            try desk.answerPage(complete: true)
        }
        // An archive in which nothing was yet may have been emptied meanwhile.
        #expect(try desk.history() == ["out one (sent) unsettled"])
    }

    @Test(
        "a failed resumption without h: messages shown by the archive have arrived, the rest is sent again, in order, once"
    )
    func failedWithoutCount() throws {
        let (desk, _) = try written()
        #expect(try desk.steps.resumeFailed(nil).told.isEmpty)
        try desk.accept("four")
        try desk.bind(resumeID: "session-2")
        try desk.answerFeatures(archive: true)
        try desk.answerPreferences("always")
        for body in ["one", "two"] {
            #expect(try desk.receive(try desk.archived(body, try desk.copy(of: body))).told == ["\(body) is acked"])
        }
        // Killed, and the new session resumed: messages are still held for the archive.
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        #expect(try desk.write().allSatisfy { $0.message == nil })
        try desk.answerPage(last: "two", complete: true)
        try desk.answerPage(complete: true)
        #expect(try desk.queue().suffix(2) == ["three", "four"].map { "message chat \($0)" })
    }

    @Test(
        "a failed resumption without an archive: sent messages stay sent and are reported once; the rest leaves"
    )
    func failedWithoutArchive() throws {
        let (desk, _) = try written()
        _ = try desk.steps.resumeFailed(nil)
        try desk.accept("four")
        try desk.bind(resumeID: "session-2")
        #expect(try desk.queue() == ["iq get query"])
        let id = try #require(try desk.questions("features").last)
        let told = try desk.receive(
            "<iq type='result' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>"
        ).told
        #expect(told.suffix(3) == ["one", "two", "three"].map { "\($0) is unsettled" })
        #expect(try desk.queue().last == "message chat four")
        #expect(try desk.history().prefix(1) == ["out one (sent) unsettled"])
        #expect(try desk.steps.bound(desk.account.jid).told.isEmpty)
    }

    @Test("messages shown by the archive are not sent again, even if the connection ends before the page")
    func shownBeforeTheEnd() throws {
        let (desk, _) = try written()
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        for body in ["one", "two", "three"] {
            let id = try #require(try desk.text("SELECT origin_id FROM message WHERE body = '\(body)'"))
            let copy =
                "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>\(body)</body></message>"
            try desk.receive(try desk.archived("a-\(body)", copy))
        }
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        #expect(try desk.write().allSatisfy { $0.message == nil })
    }

    @Test("accepted messages that never left go out in the new session, in the order accepted")
    func queuedGoesOut() throws {
        let desk = try Desk.caughtUp()
        try desk.accept("one")
        try desk.accept("two")
        try desk.bind(resumeID: "session-2")
        #expect(try desk.queue() == ["message chat one", "message chat two", "iq get query"])
        try desk.write()
        try desk.acknowledgeAll()
        #expect(try desk.history() == ["out one (acked)", "out two (acked)"])
    }

    @Test("a new session starts at zero and invalidates the questions of the previous session")
    func newSession() throws {
        let desk = try Desk.online()
        let question = try #require(try desk.questions("features").last)
        try desk.receive("<presence/>")
        try desk.bind(resumeID: "session-2")
        let session = try desk.steps.load()
        #expect((session.handled, session.acknowledged) == (.zero, .zero))
        #expect(session.resumeID == "session-2")
        #expect(try desk.questions("features").count == 1)
        #expect(try !desk.questions("features").contains(question))
    }

    @Test("the queue's ids are never used twice, because a connection remembers the last written id")
    func queueIDs() throws {
        let desk = try Desk.caughtUp()
        try desk.accept("one")
        let last = try #require(try desk.write().last?.id)
        try desk.acknowledgeAll()
        #expect(try desk.queue().isEmpty)
        try desk.accept("two")
        let entries = try OutboundQueue(database: desk.database, account: desk.account.id).entries(
            after: last, limit: 9)
        #expect(entries.count == 1)
        #expect(try #require(entries.first).id > last)
    }

    @Test("without stream management a message that has left stays sent, and is reported at the next bind")
    func unmanaged() throws {
        let desk = try Desk.online(resumeID: nil)
        try desk.accept("one")
        _ = try desk.queueSteps.left(try desk.write())
        #expect(try desk.queue().isEmpty)
        #expect(try desk.steps.bound(desk.account.jid).told == ["one is unsettled"])
    }

    @Test("a message keeps the newest id of the archive that was known when it first left")
    func anchor() throws {
        let desk = try Desk.caughtUp()
        for id in ["a1", "a2"] {
            try desk.receive(
                """
                <message from='romeo@example.net/x' id='\(id)'><body>\(id)</body>\
                <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(id)'/></message>
                """)
        }
        try desk.accept("one")
        try desk.write()
        try desk.receive(
            "<message from='a@b/c' id='3'><body>3</body><stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='a3'/></message>"
        )
        try desk.write()
        #expect(try desk.text("SELECT anchor FROM message WHERE body = 'one'") == "a2")
    }

    /// Rules.md, durability 6: receipts and markers are sent again, chat states and presence dropped, requests invalidated.
    @Test("a lost session drops other stanzas than messages if they are of the moment; lasting stanzas are sent again")
    func lasting() throws {
        let desk = try Desk.caughtUp()
        _ = try desk.runner.run("application", for: desk.account) { step in
            for xml in [
                "<message to='a@b'><received xmlns='urn:xmpp:receipts' id='1'/></message>",
                "<message to='a@b'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>",
                "<message to='a@b'><displayed xmlns='urn:xmpp:chat-markers:0' id='1'/></message>",
                "<presence to='a@b'/>",
                "<iq type='get' id='1'><ping xmlns='urn:xmpp:ping'/></iq>",
            ] { try step.send(try Element.parse(Desk.inClient(xml))) }
        }
        try desk.write()
        #expect(try desk.queue().count == 5)
        // A resumed session goes on with all of them.
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        #expect(try desk.queue().prefix(5).count == 5)
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        #expect(try desk.queue() == ["message received", "message displayed", "iq get query"])
        try desk.acknowledgeAll()
        #expect(try desk.queue().isEmpty)
    }

    @Test("the archive is paged from the first unsettled message's anchor to the archive's end")
    func pagedFromTheAnchor() throws {
        let desk = try Desk.read(5)
        try desk.accept("mine")
        try desk.write()
        _ = try desk.steps.readArchive()
        try desk.show((2...30).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        try desk.show((31...60).map { "a\($0)" }, at: "2026-11-21T11:00:10Z")
        try desk.fin("page", last: "a60", complete: true)
        _ = try desk.steps.readArchive()
        #expect(try desk.asked() == ["after a21"])
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        try desk.answerFeatures(archive: true)
        // From before a5, which shows that the archive reaches back so far.
        #expect(try desk.asked() == ["after a4"])
        try desk.answerPreferences("always")
        // "a lost anchor falls back to `start` with the server's time less 5 minutes"
        try desk.refuse("page", "item-not-found")
        #expect(try desk.asked() == ["from 2026-11-20T10:00:00Z"])
        let id = try #require(try desk.text("SELECT origin_id FROM message WHERE body = 'mine'"))
        try desk.show((1...60).map { "a\($0)" }, at: "2026-11-21T11:00:00Z")
        let copy = "<message from='juliet@example.org/x' to='romeo@example.net' id='\(id)'><body>mine</body></message>"
        #expect(try desk.receive(try desk.result("a61", xml: copy)).told == ["mine is acked"])
        try desk.fin("page", last: "a61", complete: true)
        try desk.fin("page", complete: true)
        #expect(try !desk.queue().contains("message chat mine"))
        #expect(try desk.history() == (1...60).map { "in a\($0)" } + ["out mine (acked)"])
    }

    @Test(
        "a message refused by the recipient's server fails with the reason, even while it waits to be sent again")
    func refusedWhileHeld() throws {
        let desk = try Desk.caughtUp()
        let id = try #require(try desk.accept("one").originID)
        try desk.write()
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        let error = """
            <message type='error' from='romeo@example.net' id='\(id)'><error type='cancel'><remote-server-not-found \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        #expect(try desk.receive(error).told == ["one is failed"])
        try desk.answerFeatures(archive: true)
        for _ in 0..<2 { try desk.answerPage(complete: true) }
        #expect(try !desk.queue().contains("message chat one"))
        let message = try #require(
            try HistoryReader(desk.database).messages(of: desk.account, with: nil, limit: 1).first)
        #expect((message.state, message.error) == (.failed, "remote-server-not-found (cancel)"))
    }
}
