import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Encrypted messages to a group are for everybody who belongs to it now.
struct GroupEncryptionTests {
    private let room: RoomHarness
    private let romeo: SealedPeer
    private let nurse: SealedPeer
    private var harness: StepHarness { room.harness }

    /// The account has entered the group, in which romeo is present; the lists of members are requested.
    init() throws {
        room = try RoomHarness.joined()
        (romeo, nurse) = (try SealedPeer(), try SealedPeer("nurse@example.org", device: 8))
        try room.harness.publishKeys()
        try room.harness.encrypt(RoomHarness.room)
    }

    /// Everybody's keys are requested and come.
    private func answerKeys(_ peers: [SealedPeer]) throws {
        _ = try harness.leave()
        for peer in peers {
            try harness.answer(
                "list", by: peer.jid, node: OMEMOVersion.axolotl.listNode, DeviceList([peer.device]).element(.axolotl))
        }
        _ = try harness.leave()
        for peer in peers {
            try harness.answer(
                "bundle", by: peer.jid, node: OMEMOVersion.axolotl.bundleNode(peer.device), peer.bundle)
        }
    }

    private func sent() throws -> [Element] { try harness.leave().filter { $0.name == "message" } }

    private func waitsFor() throws -> WaitReason? {
        let conversations = Conversations(reading: harness.database, of: harness.account, clock: harness.clock.clock)
        return try conversations.page(with: JID(RoomHarness.room), limit: 9)?.messages.last?.waitsFor
    }

    @Test("what is written before the lists of members have come waits for them, and reaches who is not present")
    func first() throws {
        try room.accept("But soft")
        try answerKeys([romeo])
        #expect(try sent().isEmpty)
        #expect(try waitsFor() == .members)
        try room.list()
        try room.list()
        #expect(try sent().isEmpty)
        try room.list([romeo.jid, nurse.jid])
        #expect(try waitsFor() == .keys(nil))
        try answerKeys([romeo, nurse])
        let messages = try sent()
        try #require(messages.count == 1)
        for peer in [romeo, nurse] { #expect(try peer.read(messages[0]) == "But soft") }
    }

    @Test("a room that refuses its lists: the message leaves for those who are known")
    func refused() throws {
        try room.accept("But soft")
        for _ in 0..<3 {
            #expect(try waitsFor() == .members)
            let id = try #require(try harness.text("SELECT id FROM request WHERE name = 'rooms.members'"))
            try harness.receive(
                """
                <iq type='error' from='\(RoomHarness.room)' id='\(id)'><error type='auth'>\
                <forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
        }
        try answerKeys([romeo])
        let messages = try sent()
        try #require(messages.count == 1)
        #expect(try romeo.read(messages[0]) == "But soft")
    }

    @Test("a room that does not answer is asked once; a new session asks again")
    func silent() throws {
        try room.accept("But soft")
        try harness.letExpire()
        #expect(try harness.waiting("rooms.members").isEmpty)
        #expect(try waitsFor() == .keys(nil))
        try room.bindAnew()
        #expect(try !harness.waiting("rooms.members").isEmpty)
        #expect(try harness.number("SELECT listed = joins FROM room") == 0)
    }

    @Test("a room that becomes a group while the account is in it lists its members")
    func becomesGroup() throws {
        let room = try RoomHarness.joined(features: [RoomHarness.group[0]])
        #expect(try room.harness.waiting("rooms.members").isEmpty)
        try room.harness.receive(
            """
            <message from='\(RoomHarness.room)' type='groupchat'><x xmlns='http://jabber.org/protocol/muc#user'>\
            <status code='104'/></x></message>
            """)
        try room.describe(RoomHarness.group)
        #expect(try room.harness.waiting("rooms.members").count == 1)
    }
}
