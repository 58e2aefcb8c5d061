import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Envelopes that no client makes, sealed by a contact (OMEMO 2).
struct HostileEnvelopeTests {
    private func envelope(_ content: String, before: String = "") -> String {
        "\(before)<envelope xmlns='urn:xmpp:sce:1'><content>\(content)</content><rpad>abc</rpad></envelope>"
    }

    private func body(_ text: String) -> String { "<body xmlns='jabber:client'>\(text)</body>" }

    private func nested(_ depth: Int) -> String {
        String(repeating: "<x xmlns='urn:example:x'>", count: depth) + String(repeating: "</x>", count: depth)
    }

    @Test("nesting: as deep as in a stanza is read, deeper is malformed, and the next message is read")
    func deep() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        for depth in [100, 126, 127, 1000, 20_000] {
            try harness.receive(peer.message(envelope(body("deep \(depth)") + nested(depth)), harness))
        }
        try harness.receive(peer.message(envelope(body("next")), harness))
        #expect(try harness.history() == ["in deep 100", "in deep 126", "in -", "in -", "in -", "in next"])
        #expect(try harness.problems() == [nil, nil, "malformed", "malformed", "malformed", nil])
    }

    @Test(
        "documents with a type, entities, instructions or more than one root are malformed",
        arguments: [
            "<!DOCTYPE e [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;'>]>",
            "<!DOCTYPE e SYSTEM 'file:///etc/passwd'>", "<?xml-stylesheet href='x'?>", "<!-- -->", "<a/>", "text",
        ])
    func bombs(before: String) throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(envelope(body("&c;"), before: before), harness))
        try harness.receive(peer.message(envelope(body("x"), before: before), harness))
        #expect(try harness.history() == ["in -", "in -"])
        #expect(try harness.problems() == ["malformed", "malformed"])
    }

    @Test("a text of 60 kB, and a content of 5,000 parts, are read like those of a stanza in plain")
    func large() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let text = String(repeating: "x", count: 60_000)
        try harness.receive(peer.message(envelope(body(text)), harness))
        let parts = String(repeating: "<x xmlns='urn:example:x'/>", count: 5000)
        let sealed = try peer.message(envelope(parts + body("many") + parts), harness)
        let plain =
            "<message from='mercutio@example.net/x' type='chat' id='p'>\(parts)<body>plain</body>\(parts)</message>"
        let clock = ContinuousClock()
        let (time, unsealed) = try (
            clock.measure { try harness.receive(sealed) }, clock.measure { try harness.receive(plain) }
        )
        #expect(try harness.history() == ["in " + text, "in many", "in plain"])
        print("10,000 parts: \(time) sealed, \(unsealed) in plain")
    }

    @Test(
        "a text in another namespace or deeper than the content is no text; of two the first counts",
        arguments: [
            ("<body xmlns='urn:xmpp:sce:1'>x</body>", []), ("<body>x</body>", []),
            ("<p xmlns='urn:example:p'><body xmlns='jabber:client'>x</body></p>", []),
            ("<body xmlns='jabber:client'>x</body><body xmlns='jabber:client'>y</body>", ["in x"]),
            ("<message xmlns='jabber:client' from='mercutio@example.net'><body>x</body></message>", []),
            ("<result xmlns='urn:xmpp:mam:2'><body xmlns='jabber:client'>x</body></result>", []),
        ])
    func places(content: String, history: [String]) throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(envelope(content), harness))
        #expect(try harness.history() == history)
        #expect(try harness.problems().allSatisfy { $0 == nil })
    }

    @Test("two parts that say different things: what 2 says is the message, once; nothing of the other part is shown")
    func contradicting() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let old = try SealedPeer(device: 9)
        try old.begin(harness)
        let (second, first) = (
            try peer.message(envelope(body("new")), harness, id: "m"), try old.message("old", harness)
        )
        let start = try #require(first.range(of: "<encrypted")?.lowerBound)
        let end = try #require(first.range(of: "</encrypted>")?.upperBound)
        let mixed = second.replacing("</message>", with: first[start..<end] + "<body>plain</body></message>")
        try harness.receive(mixed)
        try harness.receive(mixed.replacing(" id='m'", with: " id='n'"))
        #expect(try harness.history() == ["in new"])
        #expect(try harness.problems() == [nil])
    }

    @Test("a part in 2 for others does not hide the part that this device can read, and the other way round")
    func oneReadable() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let old = try SealedPeer(device: 9)
        try old.begin(harness)
        let other =
            "<header sid='3'><keys jid='juliet@example.org'><key rid='1'>AAAA</key></keys></header><payload>AAAA</payload>"
        try harness.receive(
            old.message("in 0.3", harness)
                .replacing("</message>", with: "<encrypted xmlns='urn:xmpp:omemo:2'>\(other)</encrypted></message>"))
        let others = "<header sid='3'><key rid='1'>AAAA</key><iv>AAAA</iv></header><payload>AAAA</payload>"
        let axolotl = "<encrypted xmlns='eu.siacs.conversations.axolotl'>\(others)</encrypted></message>"
        try harness.receive(peer.message(envelope(body("in 2")), harness).replacing("</message>", with: axolotl))
        #expect(try harness.history() == ["in in 0.3", "in in 2"])
        #expect(try harness.problems() == [nil, nil])
    }

    @Test("what could not be read shows no text of the stanza, and replaces nothing")
    func unreadable() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        try harness.receive(peer.message(envelope(body("first")), harness, id: "a"))
        let damaged = try peer.message(envelope(body("x")), harness, id: "b", damaging: .payload)
        let outside = "<body>plain</body><replace xmlns='urn:xmpp:message-correct:0' id='a'/></message>"
        try harness.receive(damaged.replacing("</message>", with: outside))
        #expect(try harness.history() == ["in first", "in -"])
    }
}
