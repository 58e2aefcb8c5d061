import KalijAddress
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
        #expect(try room.perform(MarkRead(room.room.jid, through: .row(last.id)), id: "read") == .done)
        #expect(try !isMentioned())
    }
}
