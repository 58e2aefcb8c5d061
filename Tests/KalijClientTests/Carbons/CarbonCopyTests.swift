import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0280: messages that other clients of the account receive and send.
struct CarbonCopyTests {
    private static func copy(
        _ kind: String, from wrapper: String?, of sender: String, to recipient: String, _ body: String
    ) -> String {
        let from = wrapper.map { " from='\($0)'" } ?? ""
        return """
            <message\(from) to='juliet@example.org/balcony' type='chat'><\(kind) xmlns='urn:xmpp:carbons:2'>\
            <forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='\(sender)' to='\(recipient)' \
            type='chat' id='c1'><body>\(body)</body></message></forwarded></\(kind)></message>
            """
    }

    @Test("section 7: a message that another client received is in the history as received")
    func received() throws {
        let harness = try StepHarness.caughtUp()
        let copy = Self.copy(
            "received", from: "juliet@example.org", of: "romeo@example.net/orchard",
            to: "juliet@example.org/chamber", "wherefore")
        #expect(try harness.receive(copy).told == ["message wherefore"])
        #expect(try harness.history() == ["in wherefore"])
    }

    @Test("section 8: a message that another client sent is in the history as sent")
    func sent() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            Self.copy(
                "sent", from: "juliet@example.org", of: "juliet@example.org/chamber", to: "romeo@example.net",
                "neither"))
        #expect(try harness.history() == ["out neither (acked)"])
        #expect(try harness.number("SELECT count(*) FROM message WHERE conversation = 'romeo@example.net'") == 1)
    }

    @Test(
        "section 11: copies that are not from the account's bare address are ignored",
        arguments: [
            "mallory@example.net", "mallory@example.net/x", "juliet@example.org/chamber", "example.org",
            "juliet@example.org.mallory.net", nil,
        ])
    func forged(_ from: String?) throws {
        let harness = try StepHarness.caughtUp()
        let copies = [
            Self.copy("received", from: from, of: "romeo@example.net/orchard", to: "juliet@example.org", "forged"),
            Self.copy("sent", from: from, of: "juliet@example.org/chamber", to: "romeo@example.net", "forged"),
        ]
        for copy in copies { #expect(try harness.receive(copy).told.isEmpty) }
        #expect(try harness.history().isEmpty)
    }

    @Test("a copy of a sent message that the account did not send is ignored")
    func sentBySomebodyElse() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            Self.copy("sent", from: "juliet@example.org", of: "romeo@example.net/x", to: "nurse@example.net", "forged"))
        #expect(try harness.history().isEmpty)
    }

    @Test("a copy inside a copy is not looked into")
    func nested() throws {
        let harness = try StepHarness.caughtUp()
        let inner = Self.copy(
            "received", from: "juliet@example.org", of: "romeo@example.net/x", to: "juliet@example.org", "forged")
        let start = try #require(inner.firstIndex(of: "<"))
        let message = inner[start...].replacing("<message from", with: "<message xmlns='jabber:client' from")
        try harness.receive(
            """
            <message from='juliet@example.org' type='chat'><received xmlns='urn:xmpp:carbons:2'>\
            <forwarded xmlns='urn:xmpp:forward:0'>\(message)</forwarded></received></message>
            """)
        #expect(try harness.history().isEmpty)
    }
}
