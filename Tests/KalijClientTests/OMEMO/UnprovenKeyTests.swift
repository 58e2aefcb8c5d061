import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Whoever cannot prove a key changes nothing that is known of an address: no identity, no session that sends, no list of keys.
struct UnprovenKeyTests {
    private static let channel = ["http://jabber.org/protocol/muc"]

    /// An account in a room, who has verified Romeo's key and has a session with his device 7.
    private func ready(_ features: [String]) throws -> (RoomHarness, SealedPeer) {
        let room = try RoomHarness.joined(features: features)
        let harness = room.harness
        try harness.publishKeys()
        let romeo = try SealedPeer()
        try romeo.begin(harness)
        try harness.receive(romeo.message("But soft", harness))
        try verify(romeo, harness)
        try tellList([7], harness)
        return (room, romeo)
    }

    private func verify(_ peer: SealedPeer, _ harness: StepHarness) throws {
        _ = try harness.runner.run("test", for: harness.account) { step in
            try TrustStore(step: step).set(
                .verified, peer.identity.publicIdentity.key.bytes, of: .received("romeo@example.net"))
        }
    }

    private func tellList(_ devices: [UInt32], _ harness: StepHarness) throws {
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl)
                .store(.received("romeo@example.net"), DeviceList(devices), isWatched: true)
        }
    }

    /// Somebody with a key of their own who writes as Romeo's device 7.
    private func forged(_ text: String, _ harness: StepHarness, device: UInt32 = 7) throws -> String {
        let eve = try SealedPeer(device: device)
        try eve.begin(harness)
        return try eve.message(text, harness)
    }

    private func inRoom(_ message: String, as nick: String, type: String = "groupchat") -> String {
        message.replacing("from='romeo@example.net/orchard'", with: "from='\(RoomHarness.room)/\(nick)'")
            .replacing("type='chat'", with: "type='\(type)'")
    }

    /// Everything proven that is known of others.
    private func known(_ harness: StepHarness) throws -> String? {
        try harness.text(
            """
            SELECT (SELECT group_concat(jid || hex(identity) || trust || unproven) FROM omemo_trust) || '\n' ||
                (SELECT group_concat(device || hex(identity) || listed || read_at || fails || asked) FROM omemo_peer
                    WHERE identity IS NOT NULL) || '\n' ||
                (SELECT group_concat(peer || hex(data) || sends || place) FROM omemo_session WHERE place >= 0) || '\n' ||
                (SELECT count(*) FROM omemo_owed)
            """)
    }

    private func keys(_ harness: StepHarness) throws -> Int {
        try DeviceKey.all(of: harness.account, for: JID("romeo@example.net"), from: harness.database).count
    }

    /// The texts that leave for Romeo now.
    private func left(_ text: String, to peer: SealedPeer, _ harness: StepHarness) throws -> String? {
        try harness.accept(text)
        let messages = try harness.leave().filter { $0.name == "message" && $0["to"] == "romeo@example.net" }
        #expect(messages.count == 1, "\(text)")
        return try messages.first.flatMap { try peer.read($0) }
    }

    @Test("a room that hides addresses: occupants who write as a verified device change nothing, and every text leaves")
    func occupant() throws {
        let (room, romeo) = try ready(Self.channel)
        let harness = room.harness
        #expect(try left("0", to: romeo, harness) == "0")
        let before = try known(harness)
        for number in 1...30 {
            try harness.receive(inRoom(forged("\(number)", harness), as: "eve"))
            try harness.receive(inRoom(forged("\(number)", harness), as: "eve", type: "chat"))
        }
        #expect(try known(harness) == before)
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_prekey WHERE used > 0") == 1)
        #expect(try keys(harness) == 1)
        #expect(try left("after", to: romeo, harness) == "after")
        #expect(try harness.number("SELECT count(*) FROM message WHERE state = 'failed'") == 0)
    }

    @Test(
        "a room that says that somebody is Romeo, to all or in private: the text is shown as undecided, and no more changes",
        arguments: ["groupchat", "chat"])
    func lyingRoom(type: String) throws {
        let (room, romeo) = try ready(RoomHarness.group)
        let harness = room.harness
        #expect(try left("0", to: romeo, harness) == "0")
        let before = try known(harness)
        for number in 1...10 {
            try harness.receive(inRoom(forged("\(number)", harness), as: "romeo", type: type))
            #expect(try left("text \(number)", to: romeo, harness) == "text \(number)")
        }
        let conversation = type == "chat" ? RoomHarness.room + "/romeo" : RoomHarness.room
        let shown = try HistoryReader(harness.database).messages(
            of: harness.account, with: JID(conversation), limit: 99)
        #expect(shown.map(\.body) == (1...10).map { "\($0)" })
        #expect(shown.allSatisfy { $0.encryption?.trust == .undecided })
        // What leaves moves the ratchet.
        #expect(try known(harness)?.split(separator: "\n").first == before?.split(separator: "\n").first)
        #expect(try harness.number("SELECT count(*) FROM omemo_session WHERE sends = 1") == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_session") ?? 9 <= 4)
        #expect(try keys(harness) == 1)
        #expect(try !harness.leave().contains { $0.name == "iq" })
    }

    @Test("a room invents devices of Romeo's: they take no room from his sessions, and no question is asked for each")
    func inventedDevices() throws {
        let (room, romeo) = try ready(RoomHarness.group)
        let harness = room.harness
        let before = try known(harness)
        for device in 100..<200 {
            try harness.receive(inRoom(forged("x", harness, device: UInt32(device)), as: "romeo"))
        }
        #expect(try known(harness) == before)
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 65)
        #expect(try harness.leave().count { $0.name == "iq" && $0["to"] == "romeo@example.net" } == 0)
        #expect(try left("after", to: romeo, harness) == "after")
    }

    @Test("a member of a group writes first: the bundle proves the key, and from then on it is the member's")
    func proven() throws {
        let room = try RoomHarness.joined()
        let harness = room.harness
        try harness.publishKeys()
        let romeo = try SealedPeer()
        try romeo.begin(harness)
        try harness.receive(inRoom(romeo.message("one", harness), as: "romeo"))
        #expect(try keys(harness) == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_trust") == 0)
        #expect(try harness.number("SELECT count(*) FROM omemo_session WHERE sends = 1") == 0)
        #expect(try harness.leave().contains { $0["to"] == "romeo@example.net" && $0.xml().contains("devicelist") })
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        try harness.receive(inRoom(romeo.message("two", harness), as: "romeo"))
        #expect(try harness.leave().contains { $0.xml().contains("bundles:7") })
        try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), romeo.bundle)
        try harness.receive(inRoom(romeo.message("three", harness), as: "romeo"))
        let shown = try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9)
        #expect(shown.map(\.body) == ["one", "two", "three"])
        #expect(shown.map { $0.encryption?.trust } == [.undecided, .undecided, .blind])
        #expect(try keys(harness) == 1)
    }

    @Test(
        "a verified contact's address shows another key: a text waits for the bundle, and leaves for the key that it shows"
    )
    func otherKey() throws {
        let (room, romeo) = try ready(Self.channel)
        let harness = room.harness
        try harness.receive(forged("I am Romeo", harness))
        let message = try harness.accept("secret")
        let asked = try harness.leave()
        #expect(asked.contains { $0.xml().contains("bundles:7") } && !asked.contains { $0.name == "message" })
        try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), romeo.bundle)
        #expect(try harness.leave().count { $0.name == "message" } == 1)
        #expect(try Message.load(message.id, from: harness.database)?.state != .failed)
        #expect(
            try harness.text("SELECT hex(identity) FROM omemo_peer")
                == harness.text("SELECT hex(identity) FROM omemo_trust WHERE trust = 'verified'"))
    }

    @Test("keys that a former version has listed on a room's word are listed no longer, and get nothing")
    func formerVersion() throws {
        let (room, romeo) = try ready(Self.channel)
        let harness = room.harness
        let eve = try SealedPeer()
        try harness.database.run("UPDATE omemo_peer SET identity = ?", [.blob(eve.identity.publicIdentity.key.bytes)])
        try harness.database.run(
            """
            INSERT INTO omemo_trust(account, jid, identity, trust, unproven, first_at)
            VALUES (?, 'romeo@example.net', ?, 'undecided', 1, 0)
            """, [.integer(harness.account.id), .blob(eve.identity.publicIdentity.key.bytes)])
        try harness.accept("secret")
        #expect(try harness.leave().contains { $0.xml().contains("bundles:7") })
        try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), romeo.bundle)
        #expect(try harness.leave().count { $0.name == "message" } == 1)
        #expect(try keys(harness) == 1)
    }

    @Test("a stamp of the far future keeps no later session from sending, and no message from being mended")
    func stamp() throws {
        let (harness, peer) = (try StepHarness.caughtUp(), try SealedPeer())
        try harness.publishKeys()
        try peer.begin(harness)
        let delay = "<delay xmlns='urn:xmpp:delay' stamp='9999-01-01T00:00:00Z'/></message>"
        try harness.receive(peer.message("x", harness).replacing("</message>", with: delay))
        let latest = 86_400_000 + harness.clock.now
        #expect(try harness.number("SELECT max(place) FROM omemo_session") ?? .max <= latest)
        #expect(try harness.number("SELECT max(read_at) FROM omemo_peer") ?? .max <= latest)
    }

    @Test("a room's archive shows messages of this device that are not here: the database is not an old one for that")
    func restored() throws {
        let room = try RoomHarness.joined()
        let harness = room.harness
        try harness.publishKeys()
        try room.bindAnew()
        let content = """
            <encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='1234'><key rid='9'>MwohBQ==</key></header>\
            <payload>AAAA</payload></encrypted><body>excuse</body>\
            <x xmlns='http://jabber.org/protocol/muc#user'><item jid='juliet@example.org/x' affiliation='member' role='none'/></x>
            """
        try room.showToEnd([("r1", "juliet", content)])
        #expect(try harness.number("SELECT count(*) FROM message WHERE direction = 'out'") == 1)
        #expect(
            try harness.number("SELECT count(*) FROM omemo_device WHERE restored_at IS NULL AND device = 1234") == 1)
    }
}
