import KalijAddress
import KalijStore
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijFeatures

/// Pinned and hidden conversations.
struct ListPlacementTests {
    private typealias R = ReadingHarness
    private static let nurse = "nurse@example.net"
    private static let paris = "paris@example.com"

    /// Conversations with a message each: romeo, nurse, paris; paris is the last active.
    private func three() throws -> ReadingHarness {
        let r = try R()
        for (id, contact) in [("1", R.romeo), ("2", Self.nurse), ("3", Self.paris)] {
            r.harness.clock.move(by: 1000)
            try r.harness.receive(R.message(id, from: contact))
        }
        return r
    }

    private func change(_ r: ReadingHarness, _ jid: String, pinned: Bool? = nil, hidden: Bool? = nil) throws {
        var change = ChangeSettings(for: try JID(jid))
        (change.pinned, change.hidden) = (pinned, hidden)
        #expect(try r.harness.perform { try Intents(step: $0).perform(change, id: OutgoingID(nil).text) } == .done)
    }

    private func listed(_ r: ReadingHarness, includingHidden: Bool = false) throws -> [String] {
        try Conversations(r.harness.directory, clock: r.harness.clock.clock)
            .heads(includingHidden: includingHidden).map(\.jid)
    }

    @Test("pinned conversations come first, each group by activity")
    func pinned() throws {
        let r = try three()
        try change(r, R.romeo, pinned: true)
        #expect(try listed(r) == [R.romeo, Self.paris, Self.nurse])
        try change(r, Self.nurse + "/phone", pinned: true)
        #expect(try listed(r) == [Self.nurse, R.romeo, Self.paris])
        let reader = try Conversations(r.harness.directory, clock: r.harness.clock.clock)
        #expect(try reader.all().map(\.placement.isPinned) == [true, true, false])
        try change(r, R.romeo, pinned: false)
        #expect(try listed(r) == [Self.nurse, Self.paris, R.romeo])
    }

    @Test("a hidden conversation is listed again with its next message, whichever way it goes, and whatever its time")
    func hidden() throws {
        let r = try three()
        for contact in [R.romeo, Self.nurse] { try change(r, contact, hidden: true) }
        #expect(try listed(r) == [Self.paris])
        #expect(try listed(r, includingHidden: true) == [Self.paris, Self.nurse, R.romeo])
        let reader = try Conversations(r.harness.directory, clock: r.harness.clock.clock)
        #expect(try reader.conversation(with: JID(R.romeo)).placement.isHidden)
        // The clock was wrong before.
        r.harness.clock.move(by: -60_000)
        try r.harness.receive(R.message("4"))
        #expect(try Set(listed(r)) == [Self.paris, R.romeo])
        try r.harness.accept("Hello", to: Self.nurse)
        #expect(try Set(listed(r)) == [Self.paris, R.romeo, Self.nurse])
        try change(r, R.romeo, hidden: true)
        try change(r, R.romeo, hidden: false)
        #expect(try listed(r).contains(R.romeo))
    }

    @Test("a draft lists a hidden conversation again; one that was there before does not")
    func draft() throws {
        let r = try three()
        try r.harness.perform { try $0.setDraft("Dear", for: JID(R.romeo)) }
        try change(r, R.romeo, hidden: true)
        #expect(try !listed(r).contains(R.romeo))
        try r.harness.perform { try $0.setDraft("Dearest", for: JID(R.romeo)) }
        #expect(try listed(r).contains(R.romeo))
    }

    @Test("a private conversation in a room has a place of its own")
    func occupant() throws {
        let r = try three()
        let (room, occupant) = ("den@rooms.example.net", "den@rooms.example.net/Nurse")
        try r.harness.perform { step in
            let row = try #require(
                try RoomRows(database: step.database, account: step.account.id).make(JID(room), nick: "me"))
            try step.database.run("UPDATE room SET wanted = 1 WHERE id = ?", [.integer(row.id)])
            try step.setDraft("psst", for: JID(occupant))
        }
        try change(r, occupant, pinned: true)
        #expect(try listed(r) == [occupant, Self.paris, Self.nurse, R.romeo, room])
        try change(r, room, hidden: true)
        #expect(try listed(r) == [occupant, Self.paris, Self.nurse, R.romeo])
    }

    @Test("pinned and hidden are settings of one conversation")
    func noConversation() throws {
        var change = ChangeSettings()
        change.pinned = true
        #expect(throws: IntentFailure.self) { try change.check() }
        (change.pinned, change.hidden) = (nil, false)
        #expect(throws: IntentFailure.self) { try change.check() }
    }

    @Test("a value that no version writes changes nothing")
    func strange() throws {
        let r = try three()
        for (name, value) in [("hidden", "yes"), ("pinned", ""), ("hidden", "99999999999999999999")] {
            try r.harness.perform { step in
                try step.database.run(
                    "INSERT OR REPLACE INTO setting(account, conversation, name, value) VALUES (?, ?, ?, ?)",
                    [.integer(step.account.id), .text(R.romeo), .text(name), .text(value)])
            }
            #expect(try listed(r) == [Self.paris, Self.nurse, R.romeo])
        }
    }
}
