import KalijAddress
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Who belongs to a group is known with the room's confirmation: the next message is encrypted for them.
@Suite struct MembersTests {
    let room: RoomHarness

    init() throws { room = try RoomHarness.joined() }

    @Test("an invited person is a member before the lists come again; with the lists the rest is known")
    func invited() throws {
        let people = [try JID("nurse@example.org"), try JID("paris@example.org")]
        #expect(try room.perform(Invite(room.room.jid, people), id: "invite") == .pending)
        try confirm("rooms.invited")
        #expect(try members().contains("nurse@example.org member"))
        #expect(try !members().contains("paris@example.org member"))
        try confirm("rooms.invited")
        #expect(try room.outcome("invite") == .done)
        #expect(try members().contains("paris@example.org member"))
        #expect(try !room.harness.waiting("rooms.members").isEmpty)
    }

    @Test("a person who is removed reads nothing more, also before the lists come", arguments: ["none", "outcast"])
    func removed(_ affiliation: String) throws {
        #expect(try members().contains("romeo@example.net member"))
        #expect(try room.perform(SetRole(room.room.jid, "romeo@example.net", affiliation), id: "role") == .pending)
        try confirm("rooms.change")
        #expect(try room.outcome("role") == .done)
        #expect(try !members().contains { $0.hasPrefix("romeo@example.net") })
    }

    private func members() throws -> [String] {
        let row = try #require(
            try RoomRows(database: room.harness.database, account: room.harness.account.id).room(room.room.jid))
        return try Members.all(of: row, in: room.harness.database).map { "\($0.jid) \($0.affiliation)" }
    }

    private func confirm(_ name: String) throws {
        let id = try #require(try room.harness.waiting(name).last)
        try room.harness.receive("<iq type='result' from='\(RoomHarness.room)' id='\(id)'/>")
    }
}
