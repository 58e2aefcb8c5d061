import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

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
    private func given(_ harness: StepHarness) throws -> [String] {
        try harness.write().map { try Element.parse($0.stanza) }.compactMap { stanza in
            stanza.child("received", "urn:xmpp:receipts")?["id"].map { "\(stanza["to"] ?? "-") \($0)" }
        }
    }

    private func told(_ id: Int64, _ harness: StepHarness) throws -> Int64? {
        try harness.number("SELECT count(*) FROM event WHERE kind = 'delivered' AND message = \(id)")
    }

    // MARK: Given

    @Test("section 5: a live message that asks for a receipt gets one in its own step, however often the message comes")
    func live() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        try harness.receive(message("a"))
        #expect(try given(harness) == ["\(Self.romeo) a"])
        let stamped = message("b").replacing(
            "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='1'/></message>")
        for _ in 0..<3 { try harness.receive(stamped) }
        #expect(try given(harness) == ["\(Self.romeo) a", "\(Self.romeo) b"])
    }

    @Test("neither rooms nor headlines, copies, messages without id or body, nor those that do not ask, get a receipt")
    func others() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        try harness.receive(message("a", type: "groupchat"))
        try harness.receive(message("b", type: "headline"))
        try harness.receive(message("c", type: "error"))
        try harness.receive(message(""))
        try harness.receive(message("d").replacing("<body>d</body>", with: "<body/><thread>d</thread>"))
        try harness.receive("<message from='\(Self.romeo)/x' id='e'><body>e</body></message>")
        for kind in ["sent", "received"] {
            let sender = kind == "sent" ? "juliet@example.org/phone" : Self.romeo + "/x"
            try harness.receive(
                """
                <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'>\
                <forwarded xmlns='urn:xmpp:forward:0'>\(StepHarness.inClient(message(kind, from: sender)))</forwarded></\(kind)>\
                </message>
                """)
        }
        #expect(try given(harness).isEmpty)
        #expect(try harness.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("section 8: only subscribers to presence get receipts, and those that were written to")
    func strangers() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        try harness.receive(message("a", from: "tybalt@example.com/street"))
        #expect(try given(harness).isEmpty)
        try harness.accept("Who are you?", to: "tybalt@example.com")
        try harness.receive(message("b", from: "tybalt@example.com/street"))
        #expect(try given(harness) == ["tybalt@example.com b"])
    }

    @Test("where it is not known who subscribes, receipts wait for the roster; over lost sessions, too")
    func roster() throws {
        let harness = try StepHarness.askingRoster()
        try harness.receive(message("a"))
        try harness.receive(message("b", from: "tybalt@example.com/street"))
        #expect(try given(harness).isEmpty)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        try harness.answerRoster("<item jid='\(Self.romeo)' subscription='from'/>")
        #expect(try given(harness) == ["\(Self.romeo) a"])
        #expect(try harness.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("a server that gives no roster: nobody gets a receipt that was not written to, and nothing waits")
    func noRoster() throws {
        let harness = try StepHarness.askingRoster()
        try harness.receive(message("a"))
        let id = try harness.open("contacts.roster")
        try harness.receive("<iq type='error' id='\(id)' from='juliet@example.org'><error type='cancel'/></iq>")
        #expect(try given(harness).isEmpty)
        #expect(try harness.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("what the archive shows is answered once it was read to its end, but for what another client has answered")
    func archive() throws {
        let harness = try StepHarness.reading()
        try harness.subscribe(Self.romeo)
        for id in ["a", "b"] { try harness.receive(try harness.archived(id, message(id), at: "2026-11-21T13:00:00Z")) }
        let elsewhere = receipt(for: "a", from: "juliet@example.org/phone", to: Self.romeo)
        try harness.receive(try harness.archived("c", elsewhere, at: "2026-11-21T13:00:01Z"))
        let statuses = try StatusReader(harness.directory, harness.database).accounts()
        #expect(statuses[0].features.map(\.key.name) == ["receipts_owed"])
        #expect(statuses[0].features.map(\.value) == [.integer(1)])
        try harness.answerPage(complete: true)
        #expect(try given(harness).isEmpty)
        try harness.answerPage(complete: true)
        #expect(try given(harness) == ["\(Self.romeo) b"])
        #expect(try harness.history() == ["in a", "in b"], "receipts are no messages")
    }

    @Test("what is older than the account here gets no receipt, and older history that is asked for gets none")
    func older() throws {
        let harness = try StepHarness.reading()
        try harness.subscribe(Self.romeo)
        try harness.receive(try harness.archived("a", message("a"), at: "2026-11-20T10:00:00Z"))
        try harness.answerPage(last: "a", complete: true)
        try harness.answerPage(complete: true)
        _ = try harness.want(older: 10)
        try harness.receive(try harness.result("z", at: "2026-11-21T13:00:00Z", of: "filling", xml: message("z")))
        #expect(try harness.history().contains("in z"))
        #expect(try given(harness).isEmpty)
        #expect(try harness.number("SELECT count(*) FROM owed_receipt") == 0)
    }

    @Test("many receipts are given in portions")
    func portions() throws {
        let harness = try StepHarness.reading()
        try harness.subscribe(Self.romeo)
        for number in 0..<250 {
            try harness.receive(try harness.archived("a\(number)", message("\(number)"), at: "2026-11-21T13:00:00Z"))
        }
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        #expect(try given(harness).count == 100)
        while try harness.steps.due() != nil {}
        #expect(try given(harness) == (0..<250).map { "\(Self.romeo) \($0)" })
    }

    @Test("a receipt is sent again in a new session, if it was not acknowledged in the one before")
    func lostSession() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        try harness.receive(message("a"))
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try given(harness) == ["\(Self.romeo) a"])
    }

    // MARK: Come

    @Test("each message asks for a receipt; the first one that comes from its recipient is told, once")
    func delivered() throws {
        let harness = try StepHarness.caughtUp()
        let accepted = try harness.accept("hello")
        let id = try #require(accepted.originID)
        let stanza = try #require(try harness.write().last.map { try Element.parse($0.stanza) })
        #expect(stanza.child("request", "urn:xmpp:receipts") != nil)
        try harness.acknowledgeAll()
        try harness.receive(receipt(for: id, from: "tybalt@example.com/street"))
        try harness.receive(receipt(for: "nothing"))
        #expect(try told(accepted.id, harness) == 0)
        #expect(try harness.receive(receipt(for: id)).told == ["hello is delivered"])
        try harness.receive(receipt(for: id, from: Self.romeo + "/phone"))
        #expect(try told(accepted.id, harness) == 1)
        #expect(try harness.history() == ["out hello (delivered)"])
        let last = try EventLog(harness.directory).events(after: 0).last?.content as? MessageStateChanged
        #expect(last?.message.state == .delivered)
    }

    @Test("a receipt settles a message of unknown outcome")
    func settled() throws {
        let harness = try StepHarness.caughtUp()
        let accepted = try harness.accept("hello")
        let id = try #require(accepted.originID)
        try harness.write()
        try harness.database.run("UPDATE message SET settled = 0 WHERE id = ?", [.integer(accepted.id)])
        try harness.receive(receipt(for: id))
        #expect(try harness.history() == ["out hello (delivered)"])
    }

    @Test("a receipt that names its message and says something is kept as a message")
    func withBody() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(receipt(for: "a").replacing("</message>", with: "<body>and hello</body></message>"))
        #expect(try harness.history() == ["in and hello"])
    }
}

/// Evidence that a message has arrived wins over an error, whatever comes first.
struct ErrorAndArrivalTests {
    private static let error = """
        <error type='wait'><recipient-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>
        """
    /// What the recipient's clients say, and the state of the message then.
    private static let evidence = [
        ("<received xmlns='urn:xmpp:receipts' id='ID'/>", "delivered"),
        ("<displayed xmlns='urn:xmpp:chat-markers:0' id='ID'/>", "displayed"),
    ]

    private func message(_ content: String, _ source: String, _ harness: StepHarness) throws -> String {
        let xml = "<message from='romeo@example.net/x' to='juliet@example.org' type='chat' id='r'>\(content)</message>"
        switch source {
        case "carbon":
            return """
                <message from='juliet@example.org'><received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
                \(StepHarness.inClient(xml))</forwarded></received></message>
                """
        case "archive":
            _ = try harness.steps.readArchive()
            return try harness.result("a1", xml: xml)
        default: return xml
        }
    }

    @Test(
        "XEP-0184 section 5, XEP-0333: an error, then a receipt or a marker, or the other way round: the message has arrived",
        arguments: evidence.indices, ["live", "carbon", "archive"])
    func chat(_ index: Int, _ source: String) throws {
        for errorFirst in [true, false] {
            let harness = try StepHarness.caughtUp()
            let id = try #require(try harness.accept("one").originID)
            try harness.write()
            try harness.acknowledgeAll()
            let (content, state) = Self.evidence[index]
            let error = "<message type='error' from='romeo@example.net' id='\(id)'>\(Self.error)</message>"
            if errorFirst { #expect(try harness.receive(error).told == ["one is failed"]) }
            try harness.receive(message(content.replacing("ID", with: id), source, harness))
            if !errorFirst { try harness.receive(error) }
            #expect(try harness.history() == ["out one (\(state))"])
            #expect(try harness.text("SELECT error FROM message WHERE body = 'one'") == nil)
        }
    }

    @Test(
        "a room shows a message after an error, live or in its archive: the message has arrived; so in the account's own chat"
    )
    func room() throws {
        for isLive in [true, false] {
            let room = try RoomHarness.joined()
            let id = try #require(try room.accept("one").originID)
            try room.send()
            try room.refuse(message: "one", "forbidden", type: "auth")
            #expect(try room.harness.history() == ["out one (failed)"])
            let xml =
                "<message from='\(RoomHarness.room)/juliet' type='groupchat' id='\(id)'><body>one</body></message>"
            if isLive {
                #expect(try room.harness.receive(xml).told == ["one is delivered"])
            } else {
                try room.bindAnew()
                try room.harness.receive(try room.harness.result("r1", room: RoomHarness.room, xml: xml))
            }
            #expect(try room.harness.history() == ["out one (delivered)"])
        }
    }

    @Test("the account's archive says nothing about another server: what it refused stays failed")
    func ownArchive() throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("one").originID)
        try harness.write()
        try harness.acknowledgeAll()
        try harness.receive("<message type='error' from='romeo@example.net' id='\(id)'>\(Self.error)</message>")
        _ = try harness.steps.readArchive()
        try harness.receive(try harness.result("a1", xml: try harness.copy(of: "one")))
        #expect(try harness.history() == ["out one (failed)"])
    }
}
