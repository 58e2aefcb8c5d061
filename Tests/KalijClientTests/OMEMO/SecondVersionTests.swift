import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// OMEMO 2: envelopes, and devices that read one format or both.
struct SecondVersionTests {
    private func ready() throws -> StepHarness {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys([.axolotl, .omemo2])
        try harness.encrypt()
        return harness
    }

    /// Romeo's server answers all questions for `devices` and the bundles of `peers`.
    /// - Returns: the messages that leave.
    private func answer(
        _ harness: StepHarness, _ devices: [OMEMOVersion: [UInt32]], _ peers: [SealedPeer]
    ) throws -> [Element] {
        var messages: [Element] = []
        while case let stanzas = try harness.leave(), !stanzas.isEmpty {
            messages += stanzas.filter { $0.name == "message" }
            for stanza in stanzas {
                guard let node = stanza.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")?["node"],
                    let id = stanza["id"]
                else { continue }
                let list = OMEMOVersion.allCases.first { $0.listNode == node }
                let bundle = try peers.first { $0.dialect.bundleNode($0.device) == node }?.bundle
                let content = list.map { DeviceList(devices[$0] ?? []).element($0) } ?? bundle
                try harness.receive(
                    """
                    <iq type='result' id='\(id)' from='romeo@example.net'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
                    <items node='\(node)'><item id='current'>\(content?.xml() ?? "")</item></items></pubsub></iq>
                    """)
            }
        }
        return messages
    }

    // MARK: Sending

    @Test(
        "XEP-0420 6: all parts of a message are in the envelope, with padding, sender and recipient; no body is added")
    func envelope() throws {
        let (harness, peer) = (try ready(), try SealedPeer(device: 8, .omemo2))
        try harness.accept("But soft")
        let stanzas = try answer(harness, [.omemo2: [8]], [peer])
        let stanza = try #require(stanzas.first)
        #expect(stanzas.count == 1 && EncryptedElement(stanza, .axolotl) == nil)
        #expect(!stanza.children.contains(where: Envelope.isSecret), "\(stanza.xml())")
        #expect(stanza.child("encryption", "urn:xmpp:eme:0")?["namespace"] == "urn:xmpp:omemo:2")
        #expect(stanza.child("store", "urn:xmpp:hints") != nil && stanza.child("origin-id", "urn:xmpp:sid:0") != nil)
        let envelope = try peer.envelope(stanza)
        #expect(envelope.child("content")?.child("body", "jabber:client")?.text == "But soft")
        #expect(envelope.child("content")?.child("request", "urn:xmpp:receipts") != nil)
        #expect(envelope.child("from")?["jid"] == "juliet@example.org")
        #expect(envelope.child("to")?["jid"] == "romeo@example.net")
        #expect(try #require(envelope.child("rpad")?.text).utf8.count <= 328)
        #expect(envelope.bytes().count >= 128)
    }

    @Test("devices of both formats: one stanza with two parts; a device that reads both gets the message in 2")
    func mixed() throws {
        let (harness, old, new) = (try ready(), try SealedPeer(device: 7), try SealedPeer(device: 8, .omemo2))
        try harness.accept("But soft")
        let stanza = try #require(try answer(harness, [.axolotl: [7, 8], .omemo2: [8]], [old, new]).first)
        #expect(try old.read(stanza) == "But soft")
        #expect(try new.envelope(stanza).child("content")?.child("body", "jabber:client")?.text == "But soft")
        let first = try #require(EncryptedElement(stanza, .axolotl))
        #expect(first.keys(for: 8, of: "romeo@example.net").isEmpty)
        #expect(stanza.child("body", "jabber:client")?.text.contains("OMEMO") ?? false)
        #expect(stanza.child("encryption", "urn:xmpp:eme:0")?["namespace"] == OMEMOVersion.axolotl.namespace)
        #expect(!stanza.xml().contains("But soft"))
    }

    @Test("as long as 2 is off, or its keys are not published, only 0.3 is asked for and sent")
    func off() throws {
        for isOff in [true, false] {
            let harness = try StepHarness.caughtUp()
            try harness.publishKeys(isOff ? [.axolotl] : [.axolotl, .omemo2])
            if !isOff {
                try harness.database.run("UPDATE omemo_own SET stage = 'refused' WHERE dialect = 2")
            }
            try harness.encrypt()
            let peer = try SealedPeer()
            try harness.accept("But soft")
            let asked = try harness.leave().map { $0.xml() }
            #expect(!asked.contains { $0.contains("urn:xmpp:omemo:2") })
            try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
            _ = try harness.leave()
            try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), peer.bundle)
            #expect(try harness.leave().filter { $0.name == "message" }.map { try peer.read($0) } == ["But soft"])
        }
    }

    @Test("2 that was switched off stays off: a new key, or an old copy of the database, publishes nothing in 2")
    func staysOff() throws {
        for isReset in [true, false] {
            let harness = try ready()
            _ = try harness.runner.run("test", for: harness.account) { step in
                _ = try UseOMEMO2(false).perform("off", in: step)
            }
            #expect(try harness.leave().contains { $0.xml().contains("urn:xmpp:omemo:2:devices") })
            _ = try harness.runner.run("test", for: harness.account) { step in
                if isReset { return try BackupRestoreGuard(step: step).reset() }
                // The second within a day is a copy that lives: a new device.
                for _ in 0..<2 {
                    try BackupRestoreGuard(step: step).found("test")
                    try step.database.run("UPDATE omemo_device SET restoring = 0")
                }
            }
            let asked = try harness.leave().map { $0.xml() }
            #expect(asked.contains { $0.contains("eu.siacs.conversations.axolotl") })
            #expect(!asked.contains { $0.contains("urn:xmpp:omemo:2") }, "\(isReset): \(asked)")
        }
    }

    // MARK: Receiving

    private func envelope(_ content: String, _ affixes: String = "<from jid='romeo@example.net'/>") -> String {
        "<envelope xmlns='urn:xmpp:sce:1'><content>\(content)</content>\(affixes)<rpad>abc</rpad></envelope>"
    }

    @Test("a text in an envelope is read, with what else it says; what stands beside the envelope does not count")
    func read() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let id = "<body xmlns='jabber:client'>first</body><markable xmlns='urn:xmpp:chat-markers:0'/>"
        try harness.receive(peer.message(envelope(id), harness, id: "a"))
        let correction = "<body xmlns='jabber:client'>better</body><replace xmlns='urn:xmpp:message-correct:0' id='a'/>"
        let outside = "<body>plain</body><replace xmlns='urn:xmpp:message-correct:0' id='b'/></message>"
        let stanza = try peer.message(envelope(correction), harness, id: "b")
        try harness.receive(stanza.replacing("</message>", with: outside))
        #expect(try harness.history() == ["in better"])
        #expect(try harness.problems() == [nil])
        #expect(
            try ConversationEncryption(database: harness.database, account: harness.account.id).isEncrypted(
                "romeo@example.net"))
    }

    @Test(
        "XEP-0384 5.5.1: an envelope of somebody else, for somebody else, or none at all, is a failure that changes nothing",
        arguments: [
            "<from jid='mercutio@example.net'/>", "<from jid='romeo@example.net'/><to jid='nurse@example.org'/>",
            "<from jid='@'/>", "<from/>",
        ])
    func misaddressed(affixes: String) throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(envelope("<body xmlns='jabber:client'>x</body>", affixes), harness))
        #expect(try harness.problems() == ["malformed"])
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 0)
    }

    @Test(
        "payloads that are no envelopes are failures",
        arguments: [
            "", "x", "<envelope xmlns='urn:xmpp:sce:1'/>", "<envelope><content/></envelope>", "<!DOCTYPE a><a/>",
        ])
    func malformed(payload: String) throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(payload, harness))
        #expect(try harness.problems() == ["malformed"])
    }

    @Test("XEP-0420 8: what only servers may say does not count in an envelope; sender and recipient may be left out")
    func forbidden() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let content = """
            <body xmlns='jabber:client'>x</body><delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25Z'/>\
            <stanza-id xmlns='urn:xmpp:sid:0' id='forged' by='juliet@example.org'/><no-store xmlns='urn:xmpp:hints'/>\
            <event xmlns='http://jabber.org/protocol/pubsub#event'/><error xmlns='jabber:client' type='cancel'/>\
            <encrypted xmlns='urn:xmpp:omemo:2'/><private xmlns='urn:xmpp:carbons:2'/>
            """
        let envelope = try Envelope(Array(envelope(content, "").utf8))
        #expect(envelope.content.map(\.name) == ["body"])
        try harness.receive(peer.message(self.envelope(content, ""), harness))
        #expect(try harness.history() == ["in x"])
    }

    @Test("a part without a text is no line of the conversation, and the other features have it")
    func withoutText() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(
            peer.message(envelope("<composing xmlns='http://jabber.org/protocol/chatstates'/>"), harness))
        #expect(try harness.history().isEmpty)
        try harness.receive(peer.message(envelope("<body xmlns='jabber:client'>next</body>"), harness))
        #expect(try harness.history() == ["in next"])
    }

    @Test("XEP-0384 5.7: an opt-out in an envelope blocks the conversation until the user decides")
    func optOut() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(envelope("<body xmlns='jabber:client'>x</body>"), harness))
        try harness.receive(peer.message(envelope("<opt-out xmlns='urn:xmpp:omemo:2'/>"), harness))
        #expect(
            try ConversationEncryption(database: harness.database, account: harness.account.id).isBlocked(
                "romeo@example.net"))
    }

    @Test("a message in a group has to name the group")
    func group() throws {
        let (from, room) = (try JID("romeo@example.net"), try JID("r@rooms.example.org"))
        let named = try Envelope(Array(envelope("", "<to jid='r@rooms.example.org'/>").utf8))
        try named.check(from: from, to: room, isRoom: true)
        let unnamed = try Envelope(Array(envelope("").utf8))
        #expect(throws: RatchetError.self) { try unnamed.check(from: from, to: room, isRoom: true) }
        #expect(throws: RatchetError.self) { try named.check(from: from, to: JID("q@rooms.example.org"), isRoom: true) }
        try unnamed.check(from: from, to: JID("juliet@example.org"), isRoom: false)
    }

    // MARK: The own list

    @Test("XEP-0384 5.3.1: the names of other devices stay in the list; a name that is too long does not")
    func labels() throws {
        let xml = """
            <devices xmlns='urn:xmpp:omemo:2'><device id='1' label='Dino &amp; more' labelsig='c2ln'/><device id='2'/>\
            <device id='3' label='\(String(repeating: "x", count: 500))' labelsig='c2ln'/><device id='4' label='unsigned'/>\
            </devices>
            """
        let list = try #require(DeviceList(Element.parse(xml), .omemo2))
        #expect(list.labels.keys.sorted() == [1])
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys([.axolotl, .omemo2])
        var row = try #require(try KeyPublicationRow.load(harness.account.id, .omemo2, from: harness.database))
        row.set(list, besides: nil)
        try row.save(harness.account.id, .omemo2, in: harness.database)
        let again = try #require(try KeyPublicationRow.load(harness.account.id, .omemo2, from: harness.database))
        let element = again.list(with: 9).element(.omemo2)
        #expect(element.children.map { $0["id"] } == ["1", "2", "3", "4", "9"])
        #expect(element.children.map { $0["label"] } == ["Dino & more", nil, nil, nil, nil])
        #expect(element.children[0]["labelsig"] == "c2ln")
    }
}
