import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0085.
struct TypingTests {
    private static let romeo = "romeo@example.net"
    private static let active = "<active xmlns='http://jabber.org/protocol/chatstates'/>"

    private func state(
        _ content: String, from sender: String = romeo + "/orchard", type: String = "chat"
    ) -> String {
        "<message from='\(sender)' to='juliet@example.org' type='\(type)'>\(content)</message>"
    }

    private func composing(_ more: String = "") -> String {
        "<composing xmlns='http://jabber.org/protocol/chatstates'/>" + more
    }

    private func told(_ harness: StepHarness, _ xml: String) throws -> [String] {
        try harness.receive(xml).events.compactMap { ($0.content as? Typing).map { "\($0.sender) \($0.state)" } }
    }

    private func send(_ harness: StepHarness, _ state: ChatState = .composing, to contact: String = romeo) throws
        -> Bool
    {
        let before = try harness.queue().count
        try harness.perform {
            _ = try Intents(step: $0).perform(SetTyping(state, to: try JID(contact)), id: OutgoingID(nil).text)
        }
        return try harness.queue().count > before
    }

    @Test("a contact's state is told, and is no message")
    func incoming() throws {
        let harness = try StepHarness.caughtUp()
        #expect(try told(harness, state(composing())) == ["\(Self.romeo)/orchard composing"])
        let stamped = composing("<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='1'/>")
        #expect(try told(harness, state(stamped)).count == 1)
        #expect(try harness.count("message") == 0)
        #expect(try told(harness, state("<body>Hi</body>" + Self.active)) == ["\(Self.romeo)/orchard active"])
    }

    @Test("neither rooms, errors, old messages, own copies nor two states at once are told")
    func ignored() throws {
        let harness = try StepHarness.caughtUp()
        #expect(try told(harness, state(composing(), type: "groupchat")).isEmpty)
        #expect(try told(harness, state(composing(), type: "error")).isEmpty)
        #expect(try told(harness, state(composing(Self.active))).isEmpty)
        #expect(
            try told(harness, state(composing("<delay xmlns='urn:xmpp:delay' stamp='2026-11-20T10:00:00Z'/>"))).isEmpty)
        #expect(
            try told(harness, ReadingHarness.carbon(state(composing(), from: "juliet@example.org/phone"))).isEmpty)
        #expect(try told(harness, state("<eating xmlns='http://jabber.org/protocol/chatstates'/>")).isEmpty)
        #expect(try harness.count("message") == 0)
    }

    @Test("section 5.1: a state is sent only to a contact that uses states")
    func support() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        #expect(try !send(harness), "the contact has not answered yet")
        try harness.accept("Hi")
        #expect(
            try Element.parse(try #require(try harness.write().last).stanza).child("active", TypingFeature.namespace)
                != nil)
        try harness.receive(state("<body>Hi</body>"))
        #expect(try !send(harness))
        try harness.receive(state("<body>Hi</body>" + Self.active))
        #expect(try send(harness))
        let stanza = try Element.parse(try #require(try harness.write().last).stanza)
        #expect(stanza["to"] == Self.romeo && stanza["type"] == "chat" && stanza.children.map(\.name) == ["composing"])
    }

    @Test("a stranger without subscription gets no state, until written to")
    func strangers() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        let tybalt = "tybalt@example.com"
        try harness.receive(state("<body>You!</body>" + Self.active, from: tybalt + "/street"))
        #expect(try !send(harness, to: tybalt))
        try harness.accept("What?", to: tybalt)
        #expect(try send(harness, to: tybalt))
    }

    @Test("what was read of a stranger is read again once the account has written, in whatever process")
    func answers() throws {
        let harness = try StepHarness.caughtUp()
        let tybalt = "tybalt@example.com"
        for _ in 0..<2 { try harness.receive(state("<body>You!</body>", from: tybalt)) }
        #expect(try harness.count("chat_partner") == 0)
        let other = try Database(path: harness.database.path, durability: .process)
        _ = try OutgoingMessages.accept(
            "What?", to: try JID(tybalt), of: harness.account, in: other, clock: harness.clock.clock)
        try harness.receive(state("<body>You!</body>", from: tybalt))
        #expect(try harness.number("SELECT supports FROM chat_partner") == 0)
        try harness.receive(state("<body>You!</body>" + Self.active, from: tybalt))
        #expect(try harness.number("SELECT supports FROM chat_partner") == 1)
        // A step that is undone leaves nothing behind.
        #expect(throws: StoreError.self) {
            try harness.perform { step in
                let message = IncomingMessage(
                    try Element.parse(StepHarness.inClient(state("<body>You!</body>", from: tybalt))), .live,
                    account: harness.account.jid, stampedBy: nil, now: 0)
                try ChatStateSupport(step: step).answered(message, supports: false)
                throw StoreError(.full, "no room")
            }
        }
        try harness.receive(state("<body>You!</body>", from: tybalt))
        #expect(try harness.number("SELECT supports FROM chat_partner") == 0)
    }

    @Test("a lost session drops the state")
    func lost() throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe(Self.romeo)
        try harness.receive(state("<body>Hi</body>" + Self.active))
        #expect(try send(harness, .paused))
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try !harness.queue().contains { $0.contains("paused") })
    }
}
