import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijFeatures
@testable import KalijCore

/// What stands in stanzas, rows and URIs.
struct WireTests {
    @Test("a list of devices, with ids that no device has left out")
    func list() throws {
        let element = try Element.parse(
            """
            <list xmlns='eu.siacs.conversations.axolotl'><device id='1'/><device id='0'/><device id='1'/><device/>\
            <device id='2147483648'/><device id='x'/><device id='2147483647'/></list>
            """)
        #expect(DeviceList(element, .axolotl)?.devices == [1, 2_147_483_647])
        #expect(DeviceList(element, .omemo2) == nil)
        for dialect in OMEMOVersion.allCases {
            let list = DeviceList([3, 9])
            #expect(DeviceList(list.element(dialect), dialect) == list)
        }
    }

    @Test("a list of 5,000 devices is read; 64 are kept")
    func manyDevices() throws {
        let list = DeviceList((1...5000).map { UInt32($0) })
        let harness = try StepHarness.caughtUp()
        _ = try harness.runner.run("test", for: harness.account) { step in
            try DeviceLists(step: step, dialect: .axolotl).store(.received("romeo@example.net"), list, isWatched: true)
        }
        #expect(try harness.number("SELECT count(*) FROM omemo_peer") == 64)
    }

    @Test("a bundle, and what is none: missing parts, no prekey, 5,000 prekeys of which 1,000 are read")
    func bundle() throws {
        let peer = try SealedPeer()
        let bundle = try #require(try BundleElement(peer.bundle, .axolotl))
        #expect(bundle.prekeys.count == 3)
        _ = try bundle.chosen(.axolotl)
        for name in ["signedPreKeyPublic", "signedPreKeySignature", "identityKey"] {
            let element = try peer.bundle
            element.child(name)?.remove()
            #expect(BundleElement(element, .axolotl) == nil, "\(name)")
        }
        let empty = BundleElement(
            identity: bundle.identity, signedPrekey: bundle.signedPrekey, signature: bundle.signature, prekeys: [])
        #expect(throws: RatchetError.withoutPrekey) { try empty.chosen(.axolotl) }
        let many = BundleElement(
            identity: bundle.identity, signedPrekey: bundle.signedPrekey, signature: bundle.signature,
            prekeys: (0..<5_000).map { (UInt32($0), bundle.prekeys[0].key) })
        #expect(BundleElement(many.element(.axolotl), .axolotl)?.prekeys.count == 1000)
    }

    @Test("a fingerprint, in groups or not, with the type of the key or without; nothing else")
    func fingerprint() throws {
        let hex = String(repeating: "0123456789abcdef", count: 4)
        let fingerprint = try #require(Fingerprint(hex))
        #expect(fingerprint.description == "01234567 89abcdef 01234567 89abcdef 01234567 89abcdef 01234567 89abcdef")
        #expect(Fingerprint(fingerprint.description.uppercased()) == fingerprint)
        #expect(Fingerprint("05" + hex) == fingerprint)
        #expect(fingerprint.bytes.count == 32 && fingerprint.bytes[1] == 0x23)
        for bad in [
            "", "05", String(hex.dropLast()), hex + "0", String(hex.dropLast()) + "g", String(hex.dropLast()) + "é",
        ] {
            #expect(Fingerprint(bad) == nil, "\(bad)")
        }
    }

    @Test("addresses with keys, as Conversations writes them and as XEP-0434 does; nothing else")
    func uri() throws {
        let hex = String(repeating: "ab", count: 32)
        let key = try #require(Fingerprint(hex))
        let text = OMEMOURI.text(of: try JID("romeo@example.net"), [(7, key), (9, key)])
        let uri = try #require(OMEMOURI(text))
        #expect(uri.jid.description == "romeo@example.net" && uri.verified == [key, key] && uri.distrusted.isEmpty)
        #expect(uri.devices == [7: key, 9: key])
        let trust = try #require(
            OMEMOURI("xmpp:romeo@example.net?trust-message;encryption=urn:xmpp:omemo:2;trust=\(hex);distrust=\(hex)"))
        #expect(trust.verified == [key] && trust.distrusted == [key] && trust.devices.isEmpty)
        for bad in [
            "", "xmpp:romeo@example.net", "xmpp:romeo@example.net?message", "xmpp:?omemo-sid-1=\(hex)",
            "https://example.net?omemo-sid-1=\(hex)", "xmpp:romeo@example.net?omemo-sid-1=abc",
        ] { #expect(OMEMOURI(bad) == nil, "\(bad)") }
    }

    @Test("how a message was encrypted, as a row's words; a namespace of a stranger's choice stays a namespace")
    func stored() {
        let whole = MessageEncryption(
            "eu.siacs.conversations.axolotl", device: 7, fingerprint: "ab", trust: .verified,
            leftOut: ["romeo@example.net/3", "nurse@example.net"])
        let failed = MessageEncryption("urn:xmpp:omemo:2", device: 1, problem: .tooFar)
        let unknown = MessageEncryption("jabber:x:encrypted", problem: .unknownMethod)
        for encryption in [whole, failed, unknown, .plain] {
            #expect(MessageEncryption(stored: encryption.stored) == encryption)
        }
        #expect(MessageEncryption(stored: "a b c d e f g").problem == .unknownMethod)
    }

    @Test("a namespace with spaces is no name of a method")
    func spaces() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            """
            <message from='romeo@example.net/x' type='chat' id='a'><body>excuse</body>\
            <encryption xmlns='urn:xmpp:eme:0' namespace='eu.siacs.conversations.axolotl 1 ab verified - -'/></message>
            """)
        #expect(try harness.text("SELECT encryption FROM message") == nil)
    }
}
