import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The list of conversations shows whether an unread message mentions the user.
@Suite struct MentionInListTests {
    private let room: RoomHarness

    init() throws { room = try RoomHarness.joined() }

    private func isMentioned() throws -> Bool {
        let conversations = Conversations(reading: room.harness.database, of: room.harness.account)
        return try conversations.conversation(with: room.room.jid).isMentioned
    }

    @Test("a message with the nickname as a word mentions the user, until it is read")
    func mentioned() throws {
        try room.say("Julietta is here", stamp: "s1")
        #expect(try !isMentioned())
        try room.say("@Juliet: come", stamp: "s2")
        #expect(try isMentioned())
        let last = try #require(
            try Conversations(reading: room.harness.database, of: room.harness.account)
                .messages(with: room.room.jid, limit: 1).first)
        #expect(
            try room.perform(MarkRead(room.room.jid, through: .row(last.id)), id: "read") == .pending, "a marker leaves"
        )
        #expect(try !isMentioned())
    }

    private func refer(to uri: String, type: String = "mention") throws {
        try room.harness.receive(
            """
            <message from='\(RoomHarness.room)/romeo' type='groupchat' id='\(uri)'><body>come</body>\
            <reference xmlns='urn:xmpp:reference:0' type='\(type)' begin='0' end='4' uri='\(uri)'/></message>
            """)
    }

    @Test(
        "an element mentions the account by its address or its nickname, whatever the words are (XEP-0372)",
        arguments: ["xmpp:juliet@example.org", "xmpp:orchard@muc.example.org/juliet"])
    func referred(_ uri: String) throws {
        let others = ["xmpp:romeo@example.net", "xmpp:orchard@muc.example.org/romeo", "juliet@example.org", "xmpp:%ZZ"]
        for other in others { try refer(to: other) }
        try refer(to: "xmpp:juliet@example.org", type: "data")
        #expect(try !isMentioned())
        try refer(to: uri)
        #expect(try isMentioned())
    }

    @Test("a name behind an at sign is mentioned by an element, in code points; an address is none")
    func sent() throws {
        try room.presence("tybalt the cat")
        try room.accept("\u{1F319} @romeo: @tybalt the cat, @tybalt, me@romeo")
        let stanza = try #require(try room.harness.text("SELECT CAST(stanza AS TEXT) FROM room_message"))
        let references = try Element.parse(stanza).children("reference", "urn:xmpp:reference:0")
        let found = references.map { "\($0["begin"] ?? "") \($0["end"] ?? "") \($0["uri"] ?? "")" }
        #expect(
            found == [
                "2 8 xmpp:romeo@example.net", "10 25 xmpp:orchard@muc.example.org/tybalt%20the%20cat",
            ])
    }
}
