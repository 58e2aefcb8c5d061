import KalijRatchet
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Encrypted messages that leave.
struct MessageEncryptorTests {
    private func ready() throws -> (StepHarness, SealedPeer) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        try harness.encrypt()
        return (harness, try SealedPeer())
    }

    private func answer(_ harness: StepHarness, _ peer: SealedPeer) throws {
        _ = try harness.leave()
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        _ = try harness.leave()
        try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), peer.bundle)
    }

    /// The messages among `stanzas`.
    private func messages(_ stanzas: [Element]) -> [Element] { stanzas.filter { $0.name == "message" } }

    @Test(
        "a message waits for keys, and leaves encrypted, with an excuse, the method and the hint; later ones wait behind it"
    )
    func waits() throws {
        let (harness, peer) = try ready()
        try harness.accept("But soft")
        try harness.accept("what light")
        #expect(try messages(harness.leave()).isEmpty)
        try answer(harness, peer)
        let sent = try messages(harness.leave())
        #expect(try sent.map { try peer.read($0) } == ["But soft", "what light"])
        for stanza in sent {
            #expect(!stanza.xml().contains("soft") && !stanza.xml().contains("light"))
            #expect(stanza.child("body", "jabber:client")?.text.contains("OMEMO") ?? false)
            #expect(stanza.child("encryption", "urn:xmpp:eme:0")?["namespace"] == OMEMOVersion.axolotl.namespace)
            #expect(stanza.child("store", "urn:xmpp:hints") != nil && stanza["type"] == "chat")
        }
        #expect(try harness.history() == ["out But soft (acked)", "out what light (acked)"])
    }

    @Test("what has left is sent again as the same bytes; the ratchet moves once")
    func sameBytes() throws {
        let (harness, peer) = try ready()
        try harness.accept("once")
        try answer(harness, peer)
        guard case .queued = try harness.queueSteps.next(after: OutboundWriter(), isManaged: true) else {
            Issue.record("nothing was encrypted")
            return
        }
        let ratchets = try harness.text("SELECT hex(data) FROM omemo_session")
        let first = try harness.write().compactMap(\.message).count
        let bytes = try harness.write().map(\.stanza)
        _ = try harness.steps.resumed(harness.steps.load().acknowledged)
        #expect(first == 1)
        #expect(try harness.text("SELECT hex(data) FROM omemo_session") == ratchets)
        let again = try harness.database.prepare("SELECT stanza FROM queue WHERE message IS NOT NULL").all { $0.blob() }
        #expect(again.allSatisfy { bytes.contains($0) } && again.count == 1)
    }

    @Test("nothing is ever sent in plain: no keys, only keys that are not trusted, a damaged bundle")
    func never() throws {
        let (harness, peer) = try ready()
        try harness.accept("secret one")
        _ = try harness.leave()
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([]).element(.axolotl))
        #expect(try messages(harness.leave()).isEmpty)
        #expect(try harness.history() == ["out secret one (failed)"])
        #expect(try harness.text("SELECT error FROM message")?.hasPrefix("no-keys") ?? false)

        let (other, _) = try ready()
        try other.accept("secret two")
        _ = try other.leave()
        try other.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        _ = try other.leave()
        let bundle = try peer.bundle
        bundle.child("signedPreKeySignature")?.setText("AAAA")
        try other.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), bundle)
        #expect(try messages(other.leave()).isEmpty)
        #expect(try other.text("SELECT error FROM message")?.contains("signature") ?? false)
    }

    @Test("a server loses an answer: the bundle is asked for once more before the device is left out")
    func lostAnswer() throws {
        let (harness, peer) = try ready()
        try harness.accept("But soft")
        _ = try harness.leave()
        try harness.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        _ = try harness.leave()
        try harness.letExpire()
        let asked = try harness.leave().filter { $0.xml().contains(OMEMOVersion.axolotl.bundleNode(7)) }
        #expect(asked.count == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_peer WHERE bad_until IS NOT NULL") == 0)
        try harness.answer("bundle", node: OMEMOVersion.axolotl.bundleNode(7), peer.bundle)
        #expect(try messages(harness.leave()).map { try peer.read($0) } == ["But soft"])

        let (other, _) = try ready()
        try other.accept("But soft")
        _ = try other.leave()
        try other.answer("list", node: OMEMOVersion.axolotl.listNode, DeviceList([7]).element(.axolotl))
        for _ in 0..<2 {
            _ = try other.leave()
            try other.letExpire()
        }
        #expect(try other.text("SELECT problem FROM omemo_peer") == "its server does not answer")
    }

    @Test("a server that cannot find a node that it is making is asked again, three times in all")
    func makingNode() throws {
        let (harness, _) = try ready()
        _ = try harness.runner.run("test", for: harness.account) {
            try KeyPublisher(step: $0, dialect: .axolotl).handle(.changed)
        }
        for stage in ["publishing-bundle", "publishing-bundle", "refused"] {
            let id = try #require(try harness.text("SELECT id FROM request WHERE name = 'omemo.own'"))
            try harness.receive(
                """
                <iq type='error' id='\(id)'><error type='cancel'>\
                <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
            #expect(try harness.text("SELECT stage FROM omemo_own") == stage)
        }
    }

    @Test("a message keeps the mode in which it was accepted; a plain one waits behind an encrypted one")
    func modes() throws {
        let (harness, peer) = try ready()
        try harness.accept("encrypted")
        _ = try harness.runner.run("test", for: harness.account) {
            try ConversationEncryption(step: $0).set(false, for: "romeo@example.net")
        }
        try harness.accept("plain")
        #expect(try messages(harness.leave()).isEmpty)
        try answer(harness, peer)
        let sent = try messages(harness.leave())
        try #require(sent.count == 2)
        #expect(try peer.read(sent[0]) == "encrypted")
        #expect(sent[1].child("body", "jabber:client")?.text == "plain")
    }

    @Test("after a bind nothing is encrypted until the archive was read")
    func afterBind() throws {
        let (harness, peer) = try ready()
        try harness.accept("first")
        try answer(harness, peer)
        _ = try harness.leave()
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.accept("second")
        #expect(try messages(harness.leave()).isEmpty)
        #expect(try OwnDevice.load(harness.account.id, from: harness.database)?.isOpen == false)
    }

    @Test("the archive shows a text that waits to be encrypted: it is not sent again, and the database is an old copy")
    func shownWhileWaiting() throws {
        let (harness, _) = try ready()
        try harness.accept("secret")
        #expect(try harness.number("SELECT count(*) FROM omemo_waiting") == 1)
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'secret'"))
        let copy = """
            <message from='juliet@example.org/balcony' to='romeo@example.net' type='chat' id='\(id)'>\
            <encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='1234'><key rid='7'>MwohBQ==</key></header>\
            <payload>AAAA</payload></encrypted><body>excuse</body></message>
            """
        _ = try harness.steps.readArchive()
        let told = try harness.receive(try harness.archived("a1", copy))
        #expect(told.events.contains { $0.content is OMEMORestored })
        #expect(try harness.history() == ["out secret (acked)"])
        #expect(try harness.number("SELECT count(*) FROM omemo_waiting") == 0)
    }

    @Test(
        "a restored database: no old session sends, all prekeys are new, and one event tells; a second sign within a day is a copy"
    )
    func restored() throws {
        let (harness, peer) = try ready()
        try harness.accept("first")
        try answer(harness, peer)
        _ = try harness.leave()
        let device = try OwnDevice.id(of: harness.account.id, in: harness.database)
        let before = try harness.ownBundle().prekeys.map(\.id)
        let effects = try harness.runner.run("test", for: harness.account) { step in
            for _ in 0..<3 { try BackupRestoreGuard(step: step).found("test") }
        }
        #expect(effects.events.filter { $0.content is OMEMORestored }.count == 1)
        #expect(try harness.number("SELECT count(*) FROM omemo_session WHERE sends = 1") == 0)
        #expect(try Set(harness.ownBundle().prekeys.map(\.id)).isDisjoint(with: before))
        #expect(try OwnDevice.id(of: harness.account.id, in: harness.database) == device)
        _ = try harness.runner.run("test", for: harness.account) { step in
            try OwnDevice.set(isOpen: true, in: step)
            try BackupRestoreGuard(step: step).found("test")
        }
        #expect(try OwnDevice.id(of: harness.account.id, in: harness.database) != device)
    }
}
