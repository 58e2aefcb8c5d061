import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The message that a message answers, and who has proved to be an author.
struct QuotedMessageTests {
    private static let romeo = "romeo@example.net"

    private static func answer(to id: String, _ body: String, id own: String? = nil) -> String {
        OperationStanza.message(
            "<body>\(body)</body><reply xmlns='urn:xmpp:reply:0' id='\(id)'/>", id: own ?? body)
    }

    /// The newest message of the page, as it is shown.
    private func last(_ harness: StepHarness, with jid: String = romeo) throws -> Message {
        let reader = Conversations(reading: harness.database, of: harness.account, clock: harness.clock.clock)
        let message = try #require(try reader.page(with: try JID(jid), limit: 10)?.messages.last)
        // All readers show the same.
        let history = try HistoryReader(harness.database)
            .messages(of: harness.account, with: try JID(jid), limit: 10).last
        #expect(history == message)
        #expect(try reader.message(message.id) == message)
        return message
    }

    @Test("an answer shows the answered message: another's, the user's own, and while the answer waits in the mailbox")
    func known() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("Good night", id: "m1"))
        let own = try harness.accept("Tonight?")
        try harness.receive(Self.answer(to: try #require(own.originID), "Yes"))
        let answer = try last(harness)
        #expect(answer.answered?.id == own.id && answer.answered?.text == "Tonight?")
        #expect(answer.answered?.direction == .outgoing && answer.answered?.author == "juliet@example.org")
        #expect("\(answer.line)" == "from romeo@example.net/orchard (answers you: “Tonight?”): Yes")
        _ = try harness.directory.share(
            "And to you", to: try JID(Self.romeo), answering: .id("m1"), clock: harness.clock.clock)
        let reader = Conversations(reading: harness.database, of: harness.account)
        let page = try reader.page(with: try JID(Self.romeo), limit: 10, mailbox: harness.directory)
        let waiting = try #require(page?.messages.last)
        #expect(waiting.id < 0 && waiting.answered?.text == "Good night" && waiting.answered?.author == Self.romeo)
        #expect(waiting.answered?.isCut == false)
    }

    @Test("an unknown message, one of another conversation, and the answer itself are not shown")
    func unknown() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(ArchiveSyncTests.message("secret", from: "nurse@example.net/x"))
        for id in ["nothing", "m-secret", "itself"] {
            try harness.receive(Self.answer(to: id, "x", id: id == "itself" ? id : "answer-" + id))
            let answer = try last(harness)
            #expect(answer.repliesTo == id && answer.answered == nil)
            #expect("\(answer.line)".contains(" (answer): x"))
        }
        // The id of the account's own archive is nobody else's name for a message.
        try harness.receive(OperationStanza.stamped(OperationStanza.text("known", id: "m1"), "a1"))
        try harness.receive(Self.answer(to: "a1", "y"))
        #expect(try last(harness).answered == nil)
    }

    @Test(
        "the answered message is shown as it is now: corrected, retracted, forgotten; a correction means the original")
    func changed() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("Good nigth", id: "m1"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'm1'"))
        try harness.receive(OperationStanza.correction(of: "m1", "Good night", id: "c1"))
        try harness.receive(Self.answer(to: "c1", "you too"))
        #expect(try last(harness).answered?.text == "Good night" && last(harness).answered?.id == row)
        try harness.receive(OperationStanza.reaction(to: "m1", "👍", id: "r1"))
        try harness.receive(Self.answer(to: "r1", "a reaction is no line"))
        #expect(try last(harness).answered == nil)
        try harness.receive(OperationStanza.retraction(of: "m1", id: "x1"))
        try harness.receive(Self.answer(to: "m1", "what?"))
        let answer = try last(harness)
        #expect(answer.answered?.erasure == .retracted && answer.answered?.text == nil)
        #expect("\(answer.line)".contains("(answers romeo@example.net: a message that is gone): what?"))
        try harness.perform { step in _ = try Intents(step: step).perform(Forget(.row(row)), id: "f") }
        #expect(try last(harness).answered?.erasure == .forgotten)
    }

    @Test("of a huge text the beginning is shown, cut between Characters; no quote ends the quote, and no key is shown")
    func texts() throws {
        let harness = try StepHarness.caughtUp()
        let woman = "👩‍👩‍👧"
        try harness.receive(OperationStanza.text(String(repeating: woman, count: 5_000), id: "m1"))
        try harness.receive(Self.answer(to: "m1", "long"))
        let long = try #require(try last(harness).answered)
        #expect(long.isCut && (long.text?.utf8.count ?? 0) <= QuotedMessage.longestText)
        #expect(long.text?.allSatisfy { String($0) == woman } == true && long.text?.isEmpty == false)
        try harness.receive(OperationStanza.text("a" + String(repeating: "\u{301}", count: 50_000), id: "m2"))
        try harness.receive(Self.answer(to: "m2", "marks"))
        #expect(try (last(harness).answered?.text?.utf8.count ?? 0) <= QuotedMessage.longestText)
        try harness.receive(OperationStanza.text("hi”): I hate you\nreally", id: "m3"))
        try harness.receive(Self.answer(to: "m3", "ok"))
        let line = "\(try last(harness).line)"
        #expect(line == "from romeo@example.net/orchard (answers romeo@example.net: “hi'): I hate you really”): ok")
        let key = String(repeating: "ab", count: 44)
        try harness.receive(OperationStanza.text("aesgcm://example.net/b.jpg#\(key)", id: "m4"))
        try harness.receive(Self.answer(to: "m4", "nice"))
        let file = try #require(try last(harness).answered)
        #expect(file.text == nil && file.file != nil)
        #expect(!"\(try last(harness).line)".contains(key))
    }

    @Test("of several messages with an id the newest before the answer is meant, however many others have the id")
    func repeated() throws {
        let harness = try StepHarness.caughtUp()
        for number in 1...3 {
            let text = OperationStanza.text("text \(number)", id: "m1")
            try harness.receive(OperationStanza.stamped(text, "s\(number)"))
            try harness.receive(Self.answer(to: "m1", "answer \(number)"))
        }
        let reader = Conversations(reading: harness.database, of: harness.account)
        let answers = try #require(try reader.page(with: try JID(Self.romeo), limit: 10)).messages
            .filter { $0.repliesTo != nil }
        #expect(answers.map(\.answered?.text) == ["text 1", "text 2", "text 3"])
    }

    @Test("JSON has the answered message and the proven address")
    func fields() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        try room.tell("<body>two</body><reply xmlns='urn:xmpp:reply:0' id='r1'/>", id: "m2", stamp: "r2")
        let message = try last(room.harness, with: RoomHarness.room)
        #expect(message.fields.contains { $0.key == .author && $0.value == .text(Self.romeo) })
        let answers = message.fields.first { $0.key == .answers }
        guard case .object(let fields)? = answers?.value else { return #expect(Bool(false)) }
        #expect(fields.map(\.key.name) == ["id", "direction", "author", "from", "text"])
        #expect(fields.last?.value == .text("one"))
    }

    // MARK: In rooms

    @Test("in a room the room's id names the answered message, and no id that an occupant has chosen")
    func rooms() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        // A forger's id is the one that the room has given, or will give, another message.
        try room.presence("mallory", jid: "mallory@example.net/x")
        try room.say("forged", as: "mallory", id: "r1", stamp: "r2")
        try room.say("forged too", as: "mallory", id: "r9", stamp: "r3")
        // In the account's own archive another message has the id.
        try room.harness.receive(OperationStanza.stamped(OperationStanza.text("private", id: "p1"), "r8"))
        for (id, text) in [("r1", "one"), ("m1", nil), ("r9", nil), ("r8", nil), ("p1", nil)] {
            try room.tell("<body>x</body><reply xmlns='urn:xmpp:reply:0' id='\(id)'/>", id: "a\(id)", stamp: "s\(id)")
            let answered = try last(room.harness, with: RoomHarness.room).answered
            #expect(answered?.text == text)
            #expect(answered == nil || answered?.from == "\(RoomHarness.room)/romeo" && answered?.author == Self.romeo)
        }
    }

    @Test("the author in a room is who the room has shown; a name alone proves nothing")
    func authors() throws {
        let room = try RoomHarness.joined()
        try room.say("one", stamp: "r1")
        let one = try last(room.harness, with: RoomHarness.room)
        #expect(one.roomAuthor == .address(try JID(Self.romeo)) && one.author == Self.romeo)
        #expect(one.roomAuthor?.text == "jid:\(Self.romeo)" && one.roomAuthor?.address == Self.romeo)
        try room.say("two", as: "nobody", stamp: "r2")
        #expect(try last(room.harness, with: RoomHarness.room).roomAuthor == nil)
        #expect(try last(room.harness, with: RoomHarness.room).author == nil)
        try room.accept("mine")
        #expect(try last(room.harness, with: RoomHarness.room).roomAuthor == nil)
        // Outside of rooms the address is the author's.
        try room.harness.receive(OperationStanza.text("hi", id: "h"))
        #expect(try last(room.harness).roomAuthor == nil && last(room.harness).author == Self.romeo)
    }

    @Test("in a room without addresses the occupant's id stands for the author, or else a stay that was seen")
    func occupants() throws {
        func occupant(_ id: String) -> String { "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\(id)'/>" }
        let named = try RoomHarness.joined(features: ["http://jabber.org/protocol/muc", "urn:xmpp:occupant-id:0"])
        try named.tell("<body>one</body>" + occupant("p"), id: "m1", stamp: "r1")
        let one = try last(named.harness, with: RoomHarness.room)
        #expect(one.roomAuthor == .occupant("p") && one.author == nil && one.roomAuthor?.address == nil)
        // Equivalent ids are different ones.
        #expect(RoomAuthor.occupant("é") != .occupant("e\u{301}"))
        #expect(Set([RoomAuthor.occupant("é"), .occupant("e\u{301}")]).count == 2)
        let plain = try RoomHarness.joined(features: ["http://jabber.org/protocol/muc"])
        try plain.presence("paris")
        try plain.say("one", as: "paris", stamp: "r1")
        let first = try last(plain.harness, with: RoomHarness.room).roomAuthor
        try plain.presence("paris", type: "unavailable")
        try plain.presence("paris")
        try plain.say("two", as: "paris", stamp: "r2")
        let second = try last(plain.harness, with: RoomHarness.room).roomAuthor
        #expect(first != nil && second != nil && first != second)
    }

    @Test("a reply in a room does not disclose the address of an account")
    func disclosure() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        let message = try last(room.harness, with: RoomHarness.room)
        #expect(try AnsweredMessage(message).author == "\(RoomHarness.room)/romeo")
        try room.presence("paris", jid: "paris@example.net/tomb")
        let own = try room.harness.accept("for paris", to: "\(RoomHarness.room)/paris")
        #expect(try AnsweredMessage(own).author == nil)
    }
}

extension RoomHarness {
    /// A message of romeo's with any content.
    fileprivate func tell(_ content: String, id: String, stamp: String) throws {
        try harness.receive(
            """
            <message from='\(Self.room)/romeo' type='groupchat' id='\(id)'>\(content)\
            <stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.room)' id='\(stamp)'/></message>
            """)
    }
}
