import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What other people's clients were seen to send (`Tests/Programs/omemo`).
struct OddClientTests {
    private func ready() throws -> (StepHarness, SealedPeer) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        let peer = try SealedPeer()
        try peer.begin(harness)
        return (harness, peer)
    }

    /// How many devices of others are listed.
    private func listed(_ harness: StepHarness) throws -> Int64? {
        try harness.number("SELECT count(*) FROM omemo_peer WHERE listed")
    }

    private func tell(_ harness: StepHarness, _ devices: [UInt32], id: String) throws {
        try harness.receive(
            """
            <message from='romeo@example.net' to='juliet@example.org' type='headline'>\
            <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='\(OMEMOVersion.axolotl.listNode)'>\
            <item id='\(id)'>\(DeviceList(devices).element(.axolotl).xml())</item></items></event></message>
            """)
    }

    @Test(
        "Gajim: an empty key exchange without a hint is no line; if it is missed, the next message begins the session")
    func emptyExchange() throws {
        let hint = "<store xmlns='urn:xmpp:hints'/>"
        let (harness, peer) = try ready()
        try harness.receive(peer.message(nil, harness).replacing(hint, with: ""))
        try harness.receive(peer.message("after it", harness))
        #expect(try harness.history() == ["in after it"])
        let (other, friend) = try ready()
        _ = try friend.message(nil, other)
        try other.receive(friend.message("without it", other))
        #expect(try other.history() == ["in without it"])
        #expect(try other.number("SELECT count(*) FROM omemo_session") == 1)
    }

    @Test("Dino: a key for the sender's own device, said to be a key exchange, is nobody's business")
    func keyForItself() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("first", harness, own: [0x33, 1, 2, 3]))
        try harness.receive(peer.message("second", harness, own: []))
        #expect(try harness.history() == ["in first", "in second"])
        #expect(try harness.problems() == [nil, nil])
    }

    @Test("profanity: two keys for a device are one message, also if the first one is damaged; later ones are read")
    func twoKeys() throws {
        let (harness, peer) = try ready()
        let first = try peer.message("two keys", harness, id: "a", copies: 2)
        try harness.receive(first)
        try harness.receive(first.replacing("id='a'", with: "id='b'"))
        try harness.receive(peer.message("one is damaged", harness, damaging: .key, copies: 2))
        try harness.receive(peer.message("one key", harness))
        #expect(try harness.history() == ["in two keys", "in one is damaged", "in one key"])
        #expect(try harness.problems() == [nil, nil, nil])
    }

    @Test("profanity: an empty list between two full ones costs no session")
    func emptyList() throws {
        let (harness, peer) = try ready()
        try harness.subscribe("romeo@example.net")
        try tell(harness, [7], id: "current")
        try harness.receive(peer.message("before", harness))
        try tell(harness, [], id: "current")
        #expect(try listed(harness) == 0)
        try harness.receive(peer.message("meanwhile", harness))
        try tell(harness, [7], id: "current")
        #expect(try listed(harness) == 1)
        try harness.receive(peer.message("after", harness))
        #expect(try harness.history() == ["in before", "in meanwhile", "in after"])
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 1)
    }

    @Test("Dino: the item of a list may have any id, and a new list comes under a new one")
    func listItem() throws {
        let (harness, _) = try ready()
        try harness.subscribe("romeo@example.net")
        try tell(harness, [7], id: "0d5f9d1e-8b1a-4a39-9a53-1f0d1f9f6a52")
        #expect(try listed(harness) == 1)
        try tell(harness, [7, 8], id: "e7a1c6f0-50ab-4f0e-8a52-6c8f4d6f2b11")
        #expect(try listed(harness) == 2)
    }
}
