import KalijAddress
import TestSupport
import Testing

@Suite("Random addresses")
struct RandomAddressTests {
    private static let spice: [Unicode.Scalar] = [
        "@", "/", ".", "[", "]", "%", ":", "a", "Z", "0", "-", " ", "\0", "\u{AD}", "\u{301}", "\u{5D0}", "\u{627}",
        "ß", "Ⅳ", "\u{130}", "\u{FDFA}", "\u{3002}", "\u{FF0F}", "\u{FF20}", "\u{1F37A}", "\u{200F}", "\u{E000}",
    ]

    private func randomText(_ random: inout Seeded) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: text.append(Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) ?? "?")
            case 1: text.append(Unicode.Scalar(UInt32.random(in: 0...0x3000, using: &random)) ?? "?")
            case 2...3: text.append(Unicode.Scalar(UInt8.random(in: 0...127, using: &random)))
            default: text.append(Self.spice.randomElement(using: &random) ?? "?")
            }
        }
        return String(text)
    }

    @Test("preparation never crashes, is idempotent, and its parts make the same address", arguments: 1...4)
    func random(seed: UInt64) throws {
        var random = Seeded(RandomInput.seed(seed))
        var prepared = 0
        for _ in 0..<RandomInput.rounds(1_000) {
            let text = randomText(&random)
            let received = JID.received(text)
            #expect(received.bare.isBare)
            #expect(JID.received(received.description) == received)
            guard let jid = try? JID(text) else {
                #expect(!received.isPrepared && received.description == text, "\(text.debugDescription)")
                continue
            }
            prepared += 1
            #expect(received == jid && received.isPrepared)
            try checkStable(jid, of: text)
        }
        #expect(prepared > 50, "too few of the random addresses were addresses")
    }

    private func checkStable(_ jid: JID, of text: String) throws {
        let again = try? JID(jid.description)
        #expect(again == jid, "\(text.debugDescription) became \(jid.description.debugDescription)")
        #expect(again?.local == jid.local && again?.resource == jid.resource)
        let joined = try JID(local: jid.local, domain: jid.domain, resource: jid.resource)
        #expect(joined == jid)
        for part in [jid.local, jid.domain, jid.resource].compactMap({ $0 }) {
            #expect(1...1023 ~= part.utf8.count)
        }
    }

    /// Whether neighbours of the character are prepared in other ways; among Chinese and Korean characters all are alike.
    private static func isVaried(_ value: UInt32) -> Bool {
        value < 0x3400 || 0xF900..<0x1_0500 ~= value || 0x1_D100..<0x1_D800 ~= value || 0x2_F800..<0x2_FA20 ~= value
    }

    @Test("each character alone is prepared the same way twice")
    func everyCharacter() {
        for value in UInt32(0)...0x10FFFF where RandomInput.isLong || Self.isVaried(value) || value % 97 == 0 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let character = String(Character(scalar))
            for profile in [PreparationProfile.nodeprep, .resourceprep, .nameprep] {
                guard let once = try? profile.prepare(character), !once.isEmpty else { continue }
                let twice = try? profile.prepare(once)
                if twice != once { Issue.record("\(profile) of U+\(String(value, radix: 16)) is not stable") }
            }
        }
    }
}
