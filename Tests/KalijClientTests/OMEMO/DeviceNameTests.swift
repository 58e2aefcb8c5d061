import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The names of devices in lists of OMEMO 2, which their keys sign (XEP-0384 section 5.3.1).
struct DeviceNameTests {
    private static let romeo = JID.received("romeo@example.net")

    /// The name of the device that has the label, and has written.
    private func name(_ label: (SealedPeer) throws -> DeviceList.Label?) throws -> String? {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(
            peer.message(
                "<envelope xmlns='urn:xmpp:sce:1'><content><body xmlns='jabber:client'>Good morrow</body></content>"
                    + "<from jid='romeo@example.net'/><rpad>abc</rpad></envelope>", harness))
        let labels = try label(peer).map { [peer.device: $0] } ?? [:]
        try store(DeviceList([peer.device], labels: labels), harness)
        return try key(harness)?.name
    }

    private func store(_ list: DeviceList, _ harness: StepHarness) throws {
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .omemo2).store(Self.romeo, list, isWatched: true)
        }
    }

    private func key(_ harness: StepHarness) throws -> DeviceKey? {
        try DeviceKey.all(of: harness.account, for: Self.romeo, from: harness.database).first { $0.fingerprint != nil }
    }

    @Test("a name is one that the key of its device has signed; another's signature, or none, is no name")
    func signed() throws {
        #expect(try name { try DeviceList.Label("Phone", by: $0.identity) } == "Phone")
        #expect(try name { _ in try DeviceList.Label("Phone", by: SealedPeer().identity) } == nil)
        #expect(
            try name {
                let signature = try DeviceList.Label("Phone", by: $0.identity).signature
                return DeviceList.Label(text: "Tablet", signature: signature)
            } == nil)
        for signature in ["", "AAAA", "=", String(repeating: "A", count: 88)] {
            #expect(try name { _ in DeviceList.Label(text: "Phone", signature: signature) } == nil)
        }
        #expect(try name { _ in nil } == nil)
    }

    @Test("a hostile name is one line, is not longer than others, and does not turn the writing around")
    func hostile() throws {
        #expect(try name { try DeviceList.Label("\u{202E}a\nb\u{2066}\u{0}  c \u{200B}", by: $0.identity) } == "ab c")
        #expect(try name { try DeviceList.Label(String(repeating: "x", count: 90), by: $0.identity) }?.count == 53)
        let marks = "e" + String(repeating: "\u{301}", count: 90)
        #expect(try name { try DeviceList.Label(marks, by: $0.identity) }?.unicodeScalars.count == 53)
        #expect(try name { try DeviceList.Label("\u{202E} \u{0}", by: $0.identity) } == nil)
    }

    @Test("a list without a label takes the name away, and a list of 0.3 changes none")
    func removed() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(
            peer.message(
                "<envelope xmlns='urn:xmpp:sce:1'><content><body xmlns='jabber:client'>Good morrow</body></content>"
                    + "<from jid='romeo@example.net'/><rpad>abc</rpad></envelope>", harness))
        try store(DeviceList([8], labels: [8: DeviceList.Label("Phone", by: peer.identity)]), harness)
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl).store(Self.romeo, DeviceList([8]), isWatched: true)
        }
        #expect(try key(harness)?.name == "Phone")
        try store(DeviceList([8]), harness)
        #expect(try key(harness)?.name == nil)
    }

    // MARK: This device

    private func run(_ intent: some Intent & Sendable, _ harness: StepHarness) throws -> [String] {
        _ = try harness.runner.run("test", for: harness.account) { _ = try intent.perform("x", in: $0) }
        return try harness.leave().map { $0.xml() }
    }

    @Test("the own name is published with its signature, beside those of other devices, and removed again")
    func own() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys([.axolotl, .omemo2])
        let other = try SealedPeer(device: 77, .omemo2)
        _ = try harness.runner.run("test", for: harness.account) { step in
            try KeyPublisher(step: step, dialect: .omemo2).received(
                DeviceList([1234, 77], labels: [77: DeviceList.Label("Tablet", by: other.identity)]))
        }
        _ = try harness.leave()
        let sent = try run(NameDevice("Juliet's balcony"), harness)
        let list = try #require(sent.first { $0.contains("urn:xmpp:omemo:2:devices") })
        #expect(list.contains("label='Tablet'") && list.contains("balcony") && list.contains("labelsig='"))
        let state = try #require(try EncryptionState.load(of: harness.account, from: harness.database))
        #expect(state.name == "Juliet's balcony")
        let element = try Element.parse(list).child("pubsub", "http://jabber.org/protocol/pubsub")?.child("publish")?
            .child("item")?.children.first
        let label = try #require(element.flatMap { DeviceList($0, .omemo2) }?.labels[1234])
        #expect(try label.name(by: PublicKey(state.fingerprint.bytes)) == "Juliet's balcony")
        // A change while a request is in flight waits for its response.
        #expect(try run(NameDevice("Garden"), harness).isEmpty && run(NameDevice(""), harness).isEmpty)
        let id = try #require(list.firstMatch(of: /id='([^']+)'/).map { String($0.1) })
        try harness.receive("<iq type='result' id='\(id)'/>")
        let without = try harness.leave().map { $0.xml() }
        #expect(without.contains { $0.contains("label='Tablet'") && !$0.contains("balcony") })
        #expect(!sent.contains { $0.contains("axolotl.devicelist") })
    }

    @Test("a name that is no line of 53 characters is refused, and one without OMEMO 2 is kept here")
    func refused() throws {
        for name in ["a\nb", " a", "a ", "\u{202E}", String(repeating: "x", count: 54)] {
            #expect(throws: IntentFailure.self) { try NameDevice(name).check() }
        }
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        #expect(try run(NameDevice("Balcony"), harness).isEmpty)
        #expect(try EncryptionState.load(of: harness.account, from: harness.database)?.name == "Balcony")
    }
}
