import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// XEP-0184.
struct ReceiptTests {
    private static let romeo = "romeo@example.net"

    private func message(_ id: String, from sender: String = romeo + "/orchard", type: String = "chat") -> String {
        """
        <message from='\(sender)' to='juliet@example.org' type='\(type)' id='\(id)'><body>\(id)</body>\
        <request xmlns='urn:xmpp:receipts'/></message>
        """
    }

    private func receipt(
        for id: String, from sender: String = romeo + "/orchard", to recipient: String = "juliet@example.org"
    ) -> String {
        "<message from='\(sender)' to='\(recipient)' id='r'><received xmlns='urn:xmpp:receipts' id='\(id)'/></message>"
    }

    /// The receipts in the queue, as `recipient id`.
    private func given(_ desk: Desk) throws -> [String] {
        try desk.write().map { try Element.parse($0.stanza) }.compactMap { stanza in
            stanza.child("received", "urn:xmpp:receipts")?["id"].map { "\(stanza["to"] ?? "-") \($0)" }
        }
    }

    private func told(_ id: Int64, _ desk: Desk) throws -> Int64? {
        try desk.number("SELECT count(*) FROM event WHERE kind = 'delivered' AND message = \(id)")
    }

    // MARK: Given

    @Test("section 5: a live message that asks for a receipt gets one in its own step, however often the message comes")
    func live() throws {
        let desk = try Desk.caughtUp()
        try desk.subscribe(Self.romeo)
        try desk.receive(message("a"))
        #expect(try given(desk) == ["\(Self.romeo) a"])
        let stamped = message("b").replacing(
            "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='1'/></message>")
        for _ in 0..<3 { try desk.receive(stamped) }
        #expect(try given(desk) == ["\(Self.romeo) a", "\(Self.romeo) b"])
    }

    @Test("neither rooms nor headlines, copies, messages without id or body, nor those that do not ask, get a receipt")
    func others() throws {
        let desk = try Desk.caughtUp()
        try desk.subscribe(Self.romeo)
        try desk.receive(message("a", type: "groupchat"))
        try desk.receive(message("b", type: "headline"))
        try desk.receive(message("c", type: "error"))
        try desk.receive(message(""))
        try desk.receive(message("d").replacing("<body>d</body>", with: "<subject>d</subject>"))
        try desk.receive("<message from='\(Self.romeo)/x' id='e'><body>e</body></message>")
        for kind in ["sent", "received"] {
            let sender = kind == "sent" ? "juliet@example.org/phone" : Self.romeo + "/x"
            try desk.receive(
                """
                <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'>\
                <forwarded xmlns='urn:xmpp:forward:0'>\(Desk.inClient(message(kind, from: sender)))</forwarded></\(kind)>\
                </message>
                """)
        }
        #expect(try given(desk).isEmpty)
        #expect(try desk.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("section 8: only subscribers to presence get receipts, and those that were written to")
    func strangers() throws {
        let desk = try Desk.caughtUp()
        try desk.subscribe(Self.romeo)
        try desk.receive(message("a", from: "tybalt@example.com/street"))
        #expect(try given(desk).isEmpty)
        try desk.accept("Who are you?", to: "tybalt@example.com")
        try desk.receive(message("b", from: "tybalt@example.com/street"))
        #expect(try given(desk) == ["tybalt@example.com b"])
    }

    @Test("where it is not known who subscribes, receipts wait for the roster; over lost sessions, too")
    func roster() throws {
        let desk = try Desk.caughtUp()
        try desk.receive(message("a"))
        try desk.receive(message("b", from: "tybalt@example.com/street"))
        #expect(try given(desk).isEmpty)
        #expect(try desk.waiting("contacts.roster").count == 1)
        try desk.bind(resumeID: "session-2")
        let id = try #require(try desk.waiting("contacts.roster").last)
        let item = "<item jid='\(Self.romeo)' subscription='from'/>"
        try desk.receive(
            "<iq type='result' id='\(id)' from='juliet@example.org'><query xmlns='jabber:iq:roster'>\(item)</query></iq>"
        )
        #expect(try given(desk) == ["\(Self.romeo) a"])
        #expect(try desk.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("a server that gives no roster: nobody gets a receipt that was not written to, and nothing waits")
    func noRoster() throws {
        let desk = try Desk.caughtUp()
        try desk.receive(message("a"))
        let id = try #require(try desk.waiting("contacts.roster").last)
        try desk.receive("<iq type='error' id='\(id)' from='juliet@example.org'><error type='cancel'/></iq>")
        #expect(try given(desk).isEmpty)
        #expect(try desk.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("what the archive shows is answered once it was read to its end, but for what another client has answered")
    func archive() throws {
        let desk = try Desk.reading()
        try desk.subscribe(Self.romeo)
        for id in ["a", "b"] { try desk.receive(try desk.archived(id, message(id), at: "2026-11-21T13:00:00Z")) }
        let elsewhere = receipt(for: "a", from: "juliet@example.org/phone", to: Self.romeo)
        try desk.receive(try desk.archived("c", elsewhere, at: "2026-11-21T13:00:01Z"))
        let statuses = try StatusReader(desk.directory, desk.database).accounts()
        #expect(statuses[0].features.map(\.key.name) == ["receipts_owed"])
        #expect(statuses[0].features.map(\.value) == [.integer(1)])
        try desk.answerPage(complete: true)
        #expect(try given(desk).isEmpty)
        try desk.answerPage(complete: true)
        #expect(try given(desk) == ["\(Self.romeo) b"])
        #expect(try desk.history() == ["in a", "in b"], "receipts are no messages")
    }

    @Test("what is older than the account here gets no receipt, and older history that is asked for gets none")
    func older() throws {
        let desk = try Desk.reading()
        try desk.subscribe(Self.romeo)
        try desk.receive(try desk.archived("a", message("a"), at: "2026-11-20T10:00:00Z"))
        try desk.answerPage(last: "a", complete: true)
        try desk.answerPage(complete: true)
        _ = try desk.want(older: 10)
        try desk.receive(try desk.result("z", at: "2026-11-21T13:00:00Z", of: "filling", xml: message("z")))
        #expect(try desk.history().contains("in z"))
        #expect(try given(desk).isEmpty)
        #expect(try desk.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("many receipts are given in portions")
    func portions() throws {
        let desk = try Desk.reading()
        try desk.subscribe(Self.romeo)
        for number in 0..<250 {
            try desk.receive(try desk.archived("a\(number)", message("\(number)"), at: "2026-11-21T13:00:00Z"))
        }
        try desk.answerPage(complete: true)
        try desk.answerPage(complete: true)
        #expect(try given(desk).count == 100)
        while try desk.steps.due() != nil {}
        #expect(try given(desk) == (0..<250).map { "\(Self.romeo) \($0)" })
    }

    @Test("a receipt is sent again in a new session, if it was not acknowledged in the one before")
    func lostSession() throws {
        let desk = try Desk.caughtUp()
        try desk.subscribe(Self.romeo)
        try desk.receive(message("a"))
        try desk.bind(resumeID: "session-2")
        #expect(try given(desk) == ["\(Self.romeo) a"])
    }

    // MARK: Come

    @Test("each message asks for a receipt; the first one that comes from its recipient is told, once")
    func delivered() throws {
        let desk = try Desk.caughtUp()
        let accepted = try desk.accept("hello")
        let id = try #require(accepted.originID)
        let stanza = try #require(try desk.write().last.map { try Element.parse($0.stanza) })
        #expect(stanza.child("request", "urn:xmpp:receipts") != nil)
        try desk.acknowledgeAll()
        try desk.receive(receipt(for: id, from: "tybalt@example.com/street"))
        try desk.receive(receipt(for: "nothing"))
        #expect(try told(accepted.id, desk) == 0)
        #expect(try desk.receive(receipt(for: id)).told == ["delivered: delivered: hello"])
        try desk.receive(receipt(for: id, from: Self.romeo + "/phone"))
        #expect(try told(accepted.id, desk) == 1)
        #expect(try desk.history() == ["out hello (acked)"])
        let events = try EventLog(desk.directory).events(after: 0).map(\.content)
        #expect(events.last is MessageDelivered)
    }

    @Test("a receipt settles a message of unknown outcome")
    func settled() throws {
        let desk = try Desk.caughtUp()
        let accepted = try desk.accept("hello")
        let id = try #require(accepted.originID)
        try desk.write()
        try desk.database.run("UPDATE message SET settled = 0 WHERE id = ?", [.integer(accepted.id)])
        try desk.receive(receipt(for: id))
        #expect(try desk.history() == ["out hello (acked)"])
    }

    @Test("a receipt that names its message and says something is kept as a message")
    func withBody() throws {
        let desk = try Desk.caughtUp()
        try desk.receive(receipt(for: "a").replacing("</message>", with: "<body>and hello</body></message>"))
        #expect(try desk.history() == ["in and hello"])
    }
}
