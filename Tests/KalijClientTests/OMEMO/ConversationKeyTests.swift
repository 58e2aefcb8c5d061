import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The keys of a conversation, as people see them.
struct ConversationKeyTests {
    private static let romeo = JID.received("romeo@example.net")

    /// An account in an encrypted conversation with Romeo, whose devices have written.
    private func ready(_ devices: UInt32...) throws -> (StepHarness, [SealedPeer]) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        let peers = try devices.map { try SealedPeer(device: $0) }
        for peer in peers { try write(peer, harness) }
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl)
                .store(Self.romeo, DeviceList(devices), isWatched: true)
        }
        return (harness, peers)
    }

    private func write(_ peer: SealedPeer, _ harness: StepHarness) throws {
        try peer.begin(harness)
        try harness.receive(peer.message("I am \(peer.device)", harness))
    }

    private func keys(_ harness: StepHarness) throws -> ConversationKeys {
        try ConversationKeys.load(of: harness.account, with: Self.romeo, from: harness.database)
    }

    private func set(_ trust: KeyTrust, _ peer: SealedPeer, _ harness: StepHarness) throws {
        let intent = TrustKey(Self.romeo, Fingerprint(peer.identity.publicIdentity.key), trust)
        _ = try harness.runner.run("test", for: harness.account) { _ = try intent.perform("x", in: $0) }
    }

    @Test("a conversation that is not encrypted has no keys to decide on; a first encrypted message encrypts it")
    func encrypted() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        #expect(try keys(harness) == ConversationKeys(isEncrypted: false, isBlocked: false, keys: []))
        try write(try SealedPeer(), harness)
        let known = try keys(harness)
        #expect(known.isEncrypted && known.keys.map(\.device) == [7] && known.keys.map(\.trust) == [.blind])
    }

    @Test("a key has the time when it was met, and that of the newest message")
    func times() throws {
        let (harness, _) = try ready(7)
        let key = try #require(try keys(harness).keys.first)
        #expect(key.firstSeenAt == harness.clock.now && key.lastMessageAt == harness.clock.now)
    }

    @Test("after one key was verified, a new one is undecided until the user decides, if the list has its device")
    func undecided() throws {
        let (harness, peers) = try ready(7, 8)
        try set(.verified, peers[0], harness)
        #expect(try keys(harness).undecided.isEmpty)
        let other = try SealedPeer(device: 9)
        try write(other, harness)
        #expect(try keys(harness).undecided.isEmpty)
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl)
                .store(Self.romeo, DeviceList([7, 8, 9]), isWatched: true)
        }
        #expect(try keys(harness).undecided.map(\.device) == [9])
        try set(.distrusted, other, harness)
        #expect(try keys(harness).undecided.isEmpty)
    }

    @Test("encrypting asks for the lists; who has none in this session is without keys, and a message would fail")
    func keyless() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        try harness.want(EncryptConversation(Self.romeo, true), id: "e")
        let requests = try harness.waiting("omemo.list")
        #expect(requests.count == 1)
        #expect(try keys(harness).keyless.isEmpty && !keys(harness).isKeyless)
        #expect(try keys(harness).pending == [Self.romeo])
        let id = try #require(try harness.text("SELECT id FROM request WHERE name = 'omemo.list'"))
        try harness.receive(
            """
            <iq type='error' id='\(id)' from='\(Self.romeo)'><error type='cancel'>\
            <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try keys(harness).keyless == [Self.romeo] && keys(harness).isKeyless && keys(harness).pending.isEmpty)
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl).store(Self.romeo, DeviceList([7]), isWatched: true)
        }
        #expect(try keys(harness).keyless.isEmpty && !keys(harness).isKeyless && keys(harness).pending.isEmpty)
    }

    @Test("a list of an earlier session proves nothing: somebody may have keys by now")
    func olderList() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        try harness.want(EncryptConversation(Self.romeo, true), id: "e")
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl).store(Self.romeo, DeviceList([]), isWatched: true)
        }
        #expect(try keys(harness).isKeyless)
        try harness.database.run("UPDATE omemo_list SET session = session - 1")
        #expect(try keys(harness).keyless.isEmpty && !keys(harness).isKeyless)
        #expect(try keys(harness).pending == [Self.romeo])
    }

    @Test("a message that leaves is verified only if each device that receives it is", arguments: [false, true])
    func outgoing(isVerified: Bool) throws {
        let (harness, peers) = try ready(7, 8)
        for peer in isVerified ? peers : [peers[0]] { try set(.verified, peer, harness) }
        let message = try harness.accept("But soft")
        _ = try harness.leave()
        let encryption = try #require(try Message.load(message.id, from: harness.database)?.encryption)
        #expect(encryption.trust == (isVerified ? .verified : .blind) && encryption.leftOut.isEmpty)
    }

    @Test("another device of the account is removed from the list, its keys from the server; an unlisted one is not")
    func removed() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        _ = try harness.runner.run("test", for: harness.account) { step in
            try KeyPublisher(step: step, dialect: .axolotl).received(DeviceList([1234, 77, 78]))
        }
        _ = try harness.leave()
        _ = try harness.runner.run("test", for: harness.account) { _ = try RemoveDevice(77).perform("x", in: $0) }
        let sent = try harness.leave().map { $0.xml() }
        let list = try #require(sent.first { $0.contains("<publish") })
        #expect(list.contains("id='78'") && list.contains("id='1234'") && !list.contains("id='77'"))
        #expect(sent.contains { $0.contains("<delete") && $0.contains("bundles:77") })
        #expect(throws: IntentFailure.self) {
            _ = try harness.runner.run("test", for: harness.account) { _ = try RemoveDevice(5).perform("x", in: $0) }
        }
    }
}
