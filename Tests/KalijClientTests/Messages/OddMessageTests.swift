import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What other clients and servers send and few expect; from public reports (Documentation/BugReports.md).
struct OddMessageTests {
    private let client = "from='romeo@example.net/x' to='juliet@example.org' type='chat'"

    @Test("XEP-0308: a correction without a text takes no text away")
    func emptyCorrection() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive("<message \(client) id='e1'><body>at one</body></message>")
        let replace = "<replace xmlns='urn:xmpp:message-correct:0' id='e1'/>"
        for body in ["<body/>", "", "<body xml:lang='fr'/>"] {
            try harness.receive("<message \(client) id='e2'>\(body)\(replace)</message>")
        }
        #expect(try harness.history() == ["in at one"])
    }

    @Test("XEP-0444: a reaction with white space around is that reaction")
    func pretty() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive("<message \(client) id='r1'><body>at one</body></message>")
        for emoji in ["❤", "\n  👍\n"] {
            try harness.receive(
                """
                <message \(client) id='\(emoji.utf8.count)'><reactions xmlns='urn:xmpp:reactions:0' id='r1'>
                <reaction>\(emoji)</reaction></reactions></message>
                """)
        }
        let message = try #require(
            try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9).first)
        #expect(message.reactions.flatMap(\.emoji) == ["👍"])
    }

    @Test("XEP-0280 6.1: what is said in a room is copied to nobody")
    func roomCopy() throws {
        let room = try RoomHarness.joined()
        try room.say("once please")
        for kind in ["received", "sent"] {
            let from = kind == "sent" ? "juliet@example.org/x" : "\(RoomHarness.room)/romeo"
            try room.harness.receive(
                """
                <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
                <message xmlns='jabber:client' type='groupchat' from='\(from)' to='\(RoomHarness.room)' id='once please'>\
                <body>once please</body></message></forwarded></\(kind)></message>
                """)
        }
        #expect(try room.harness.number("SELECT count(*) FROM message WHERE body = 'once please'") == 1)
    }

    @Test("XEP-0280 6.1: an error for a message of another client of the account counts")
    func otherClientsError() throws {
        let harness = try StepHarness.caughtUp()
        func copy(_ kind: String, _ xml: String) -> String {
            """
            <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(StepHarness.inClient(xml))</forwarded></\(kind)></message>
            """
        }
        try harness.receive(
            copy(
                "sent",
                "<message from='juliet@example.org/x' to='romeo@example.net' type='chat' id='ce'><body>hi</body></message>"
            ))
        try harness.receive(
            copy(
                "received",
                """
                <message from='romeo@example.net' to='juliet@example.org/x' type='error' id='ce'><error type='cancel'>\
                <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                """))
        #expect(try harness.text("SELECT state FROM message WHERE body = 'hi'") == "failed")
    }

    @Test(
        "XEP-0184, 0333: evidence of arrival settles a correction that failed",
        arguments: ["receipts", "chat-markers:0"])
    func correctionArrives(_ namespace: String) throws {
        let harness = try StepHarness.caughtUp()
        func copy(_ xml: String) throws {
            try harness.receive(
                """
                <message from='juliet@example.org'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
                \(StepHarness.inClient(xml))</forwarded></sent></message>
                """)
        }
        let phone = "from='juliet@example.org/x' to='romeo@example.net' type='chat'"
        let replace = "<replace xmlns='urn:xmpp:message-correct:0' id='a1'/>"
        let evidence = "<\(namespace == "receipts" ? "received" : "displayed") xmlns='urn:xmpp:\(namespace)' id='a2'/>"
        try copy("<message \(phone) id='a1'><body>at one</body></message>")
        try copy("<message \(phone) id='a2'><body>at two</body>\(replace)</message>")
        try harness.receive(
            """
            <message from='romeo@example.net/x' to='juliet@example.org' type='error' id='a2'><error type='cancel'>\
            <recipient-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """)
        #expect(try harness.history() == ["out at one (acked)"])
        try harness.receive("<message \(client) id='e'>\(evidence)</message>")
        #expect(try harness.history() == ["out at two (acked)"])
    }

    @Test("XEP-0203: a stamp in the future is the time of arrival", arguments: ["", "from='example.org'"])
    func future(_ from: String) throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            "<message \(client) id='f'><body>x</body><delay xmlns='urn:xmpp:delay' \(from) stamp='2130-01-01T00:00:00Z'/></message>"
        )
        #expect(try harness.number("SELECT sent_at FROM message WHERE body = 'x'") == harness.clock.clock.now())
    }
}
