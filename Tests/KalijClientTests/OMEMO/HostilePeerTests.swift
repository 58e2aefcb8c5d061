import KalijAddress
import KalijXML
import Testing

import FoundationEssentials

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijRatchet
@testable import KalijCore

/// Devices and rooms that mean no good: rows and questions are bounded, and nothing is shown in a wrong place.
struct HostilePeerTests {
    private func ready(_ formats: [OMEMOVersion] = [.axolotl]) throws -> StepHarness {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys(formats)
        return harness
    }

    private func damaged(_ device: Int) -> String {
        """
        <message from='romeo@example.net/x' type='chat' id='d\(device)'><encrypted xmlns='eu.siacs.conversations.axolotl'>\
        <header sid='\(device)'><key rid='1234'>MwohBSEA</key></header><payload>AAAA</payload></encrypted></message>
        """
    }

    /// The questions for lists that leave now.
    private func questions(_ harness: StepHarness) throws -> Int {
        try harness.leave().count { stanza in
            stanza["type"] == "get" && stanza.xml().contains("devicelist") && stanza["to"] == "romeo@example.net"
        }
    }

    @Test("messages that cannot be read, each of another device: the list is asked for once, and few devices are rows")
    func manyDevices() throws {
        let harness = try ready()
        try harness.subscribe("romeo@example.net")
        for device in 1...200 {
            try harness.receive(damaged(device).replacing("MwohBSEA", with: try ratchetMessage()))
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 64)
        #expect(try questions(harness) == 1)
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 1)
        for device in 201...250 {
            try harness.receive(damaged(device).replacing("MwohBSEA", with: try ratchetMessage()))
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_owed") == 0)
        #expect(try questions(harness) == 0)
        #expect(try harness.problems().allSatisfy { $0 == "key-gone" })
    }

    /// A well-formed message of no session.
    private func ratchetMessage() throws -> String {
        let key = OMEMOVersion.axolotl.written(try KeyPair.make().key)
        let fields: [UInt8] = [0x0A, 0x21] + key + [0x10, 0, 0x18, 0, 0x22, 0x10]
        return Data([0x33] + fields + [UInt8](repeating: 7, count: 24)).base64EncodedString()
    }

    @Test("a list names the devices whose sessions are begun anew, all with one question")
    func healing() throws {
        let harness = try ready()
        try harness.subscribe("romeo@example.net")
        for device in [7, 8, 9] {
            try harness.receive(damaged(device).replacing("MwohBSEA", with: try ratchetMessage()))
        }
        #expect(try questions(harness) == 1)
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7, 9]).element(.axolotl))
        let asked = try harness.leave().compactMap {
            $0.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")?["node"]
        }
        #expect(asked.sorted() == [7, 9].map { OMEMOVersion.axolotl.bundleNode($0) })
    }

    @Test(
        "a contact begins sessions with 80 devices that no list names: the newest 64 stay, and their messages are read")
    func manySessions() throws {
        let harness = try ready()
        try harness.subscribe("romeo@example.net")
        var peers: [SealedPeer] = []
        for device in 1...80 {
            let peer = try SealedPeer(device: UInt32(device))
            try peer.begin(harness)
            try harness.receive(peer.message("\(device) begins", harness))
            peers.append(peer)
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 64)
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 64)
        for peer in peers.suffix(3) { try harness.receive(peer.message("goes on", harness)) }
        #expect(try harness.problems().allSatisfy { $0 == nil })
    }

    @Test("of 400 keys of an address 256 are known; what the user has decided stays")
    func manyKeys() throws {
        let harness = try ready()
        let keys = try (0..<400).map { _ in try KeyPair.make().key }
        _ = try harness.runner.run("test", for: harness.account) { step in
            let list = try DeviceLists(step: step, dialect: .axolotl).make(.received("romeo@example.net"))
            var device = try #require(try PeerDevices(step: step).make(7, in: list, isListed: true))
            for (number, key) in keys.enumerated() {
                try TrustStore(step: step).met(key, of: device)
                if number == 0 { try TrustStore(step: step).set(.distrusted, key.bytes, of: device.jid) }
                device = try #require(try PeerDevices(step: step).device(device.id))
            }
            #expect(try TrustStore(step: step).trust(in: keys[0].bytes, of: device.jid) == .distrusted)
            #expect(try TrustStore(step: step).trust(in: keys[399].bytes, of: device.jid) == .blind)
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_trust") == 256)
    }

    @Test("strangers who wait take no room from a contact's messages that wait for the archive")
    func strangersAside() throws {
        let harness = try ready()
        try harness.database.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO omemo_aside(account, stanza, source, position, due)
                SELECT id, '', 'live', i, 9000000000000000 FROM n, account
            """)
        for number in 0..<21 {
            let peer = try SealedPeer("s\(number)@spam.example")
            try peer.begin(harness)
            try harness.receive(peer.message("\(number)", harness))
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_aside") == 1000)
        #expect(try harness.problems().compactMap { $0 } == ["too-far"])
    }

    @Test(
        "strangers with many addresses and 55,000 skipped keys push out none of a contact's: the largest shares shrink")
    func manySkippedKeys() throws {
        let harness = try ready()
        // A row of a session is of no interest here.
        try harness.database.execute("PRAGMA foreign_keys = OFF")
        let fill: StaticString = """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
            INSERT INTO omemo_kept(session, list, ratchet, number, key)
                SELECT ?2 + i / 1000, ?2 + i / 5000 * 5, x'00', i, x'00' FROM n
            """
        try harness.database.run(fill, [.integer(100), .integer(1)])
        try harness.database.run(fill, [.integer(55_000), .integer(100)])
        let keys = try (0..<64).map {
            Session.SkippedKey(
                name: .init(key: try KeyPair.make().key, number: UInt32($0)),
                messageKey: Secret([UInt8](repeating: 1, count: 32)))
        }
        _ = try harness.runner.run("test", for: harness.account) {
            try SkippedKeys(step: $0).add(keys, of: 7000, in: 7000)
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_kept") == 50_000)
        #expect(try harness.number("SELECT count(*) FROM omemo_kept WHERE list = 1") == 100)
        #expect(try harness.number("SELECT count(*) FROM omemo_kept WHERE list = 7000") == 64)
    }

    @Test(
        "a contact who names other devices again and again: few rows wait for keys, and the device at last is asked within an hour"
    )
    func changingLists() throws {
        let harness = try ready()
        try harness.encrypt()
        try harness.subscribe("romeo@example.net")
        func name(_ devices: [UInt32]) throws {
            try harness.receive(
                """
                <message from='romeo@example.net' type='headline'><event xmlns='http://jabber.org/protocol/pubsub#event'>\
                <items node='\(OMEMOVersion.axolotl.listNode)'><item id='current'>\(DeviceList(devices).element(.axolotl).xml())</item>\
                </items></event></message>
                """)
        }
        try harness.accept("wants keys")
        _ = try harness.leave()
        var asked = 0
        for round in 0..<300 {
            try name((1...40).map { UInt32(round * 40 + $0) })
            asked += try harness.leave().count { $0.xml().contains("bundles:") }
        }
        #expect((100...140).contains(asked), "\(asked)")
        let timers = "SELECT count(*) FROM timer WHERE name IN ('promise.request', 'omemo.keys-due')"
        #expect((try harness.number(timers) ?? 0) <= 10)
        try name([99_999])
        harness.clock.move(by: 3_600_000)
        while try harness.steps.due() != nil {}
        #expect(try harness.leave().contains { $0.xml().contains("bundles:99999") })
    }

    @Test("a room shows a message for the account alone before the message comes: the text is not shown in the room")
    func shownByRoom() throws {
        let room = try RoomHarness.joined()
        let harness = room.harness
        try harness.publishKeys([.axolotl, .omemo2])
        let peer = try SealedPeer(device: 8, .omemo2)
        try peer.begin(harness)
        let message = try peer.message(
            "<envelope xmlns='urn:xmpp:sce:1'><content><body xmlns='jabber:client'>psst</body></content></envelope>",
            harness)
        try harness.receive(
            message.replacing("from='romeo@example.net/orchard'", with: "from='\(RoomHarness.room)/romeo'")
                .replacing("type='chat'", with: "type='groupchat'"))
        try harness.receive(message)
        let reader = HistoryReader(harness.database)
        let inRoom = try reader.messages(of: harness.account, with: JID(RoomHarness.room), limit: 9)
        #expect(inRoom.map(\.body) == [nil])
        let alone = try reader.messages(of: harness.account, with: JID("romeo@example.net"), limit: 9)
        #expect(alone.map(\.body) == ["psst"])
    }

    @Test(
        "a list of 64 devices without answers takes half of the questions: another contact's device is asked for at once"
    )
    func questionsOfList() throws {
        let harness = try ready()
        func asked() throws -> [String?] {
            try harness.leave().filter { $0.xml().contains("bundles:") }.map { $0["to"] }
        }
        for (jid, devices) in [("romeo@example.net", Array(1...64)), ("mercutio@example.net", [5])] {
            try harness.encrypt(jid)
            try harness.accept("But soft", to: jid)
            _ = try harness.leave()
            try harness.answer(
                "list", by: jid, node: OMEMOVersion.axolotl.listNode,
                DeviceList(devices.map { UInt32($0) }).element(.axolotl))
            #expect(try asked() == Array(repeating: jid, count: min(devices.count, 10)))
        }
    }

    @Test("texts that no stanza can have are texts, an empty one is none; bytes that are none are malformed")
    func oddTexts() throws {
        let harness = try ready()
        let peer = try SealedPeer()
        try peer.begin(harness)
        for text in ["", "a\u{0}b", "\u{FFFE}\u{1}", "\u{202E}x"] { try harness.receive(peer.message(text, harness)) }
        #expect(try harness.history() == ["in a\u{0}b", "in \u{FFFE}\u{1}", "in \u{202E}x"])
        #expect(try harness.problems().allSatisfy { $0 == nil })
        try harness.receive(peer.message("next", harness))
        #expect(try harness.history().last == "in next")
    }

    @Test("keys and signatures that are too long are not even decoded")
    func longParts() throws {
        let long = Data([UInt8](repeating: 5, count: 3000)).base64EncodedString()
        let xml = "<a><b>\(long)</b><c> AQ\n ID </c><d>AQ I</d><e>A\u{a0}QID</e></a>"
        let element = try Element.parse(xml)
        #expect(element.child("b")?.bytesOfBase64(atMost: 1000) == nil)
        #expect(element.child("b")?.bytesOfBase64(atMost: 3000)?.count == 3000)
        #expect(element.child("c")?.bytesOfBase64(atMost: 3) == [1, 2, 3])
        #expect(element.child("c")?.bytesOfBase64(atMost: 2) == nil)
        #expect(element.child("d")?.bytesOfBase64() == nil && element.child("e")?.bytesOfBase64() == nil)
    }
}
