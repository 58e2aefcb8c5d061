import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0490: messages displayed on another device of the account are withdrawn.
@Suite struct DisplayedElsewhereTests {
    private let harness: StepHarness

    init() throws {
        harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.database.run("UPDATE session SET stamps = 1")
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        try harness.assumeAnswered(.displayed)
    }

    private func message(_ id: String, from: String = "romeo@example.net/orchard") throws {
        try harness.receive(
            """
            <message from='\(from)' to='juliet@example.org' type='chat' id='\(id)'><body>\(id)</body>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='archived-\(id)'/></message>
            """)
    }

    private func item(_ id: String, chat: String = "romeo@example.net", by: String = "juliet@example.org") -> String {
        """
        <item id='\(chat)'><displayed xmlns='urn:xmpp:mds:displayed:0'>\
        <stanza-id xmlns='urn:xmpp:sid:0' by='\(by)' id='archived-\(id)'/></displayed></item>
        """
    }

    private func event(
        _ items: String, from: String? = "juliet@example.org", node: String = "urn:xmpp:mds:displayed:0"
    ) throws {
        let from = from.map { " from='\($0)'" } ?? ""
        try harness.receive(
            """
            <message\(from) to='juliet@example.org/balcony' type='headline'>\
            <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='\(node)'>\(items)</items></event></message>
            """)
    }

    /// The notifications owed to the user, in short; marks them as shown.
    private func shown() throws -> [String] {
        let outbox = NotificationOutbox(database: harness.database)
        let entries = try outbox.pending(limit: 100)
        try harness.database.transaction { try outbox.done(entries) }
        return entries.map { "\($0.notification.kind.rawValue) \($0.notification.body)" }
    }

    @Test("a message displayed elsewhere is withdrawn if it was shown, and not shown otherwise; later messages stay")
    func withdraws() throws {
        try message("one")
        #expect(try shown() == ["show one"])
        try message("two")
        try message("three")
        try message("nurse", from: "nurse@example.net/x")
        try event(item("two"))
        #expect(try shown() == ["withdraw one", "show three", "show nurse"])
        #expect(try harness.history().count == 4, "the event itself is no message")
    }

    @Test("a displayed message that the archive did not show stands at the end: others are withdrawn when named")
    func displaced() throws {
        for id in ["one", "two", "three"] { try message(id) }
        try event(item("one"))
        #expect(try shown() == ["show two", "show three"])
        // As after a reading that has shown all but the first.
        try harness.database.run("UPDATE message SET position = position + 1000 WHERE message_id = 'one'")
        try event(item("two"))
        #expect(try shown() == ["withdraw two"], "and the third is not known to be read")
    }

    @Test("the displayed place only moves forward, and an id unknown in that chat is ignored")
    func ignored() throws {
        try message("one")
        try message("nurse", from: "nurse@example.net/x")
        try event(item("unknown"))
        try event(item("nurse"))
        try event(item("one", by: "romeo@example.net"))
        try event("<item id='romeo@example.net'/><item id='@@'/><item/>")
        try event(item("one", chat: "romeo@example.net/orchard"))
        #expect(try shown() == ["show one", "show nurse"])
        try event(item("one"))
        try event(item("one"))
        #expect(try shown() == ["withdraw one"])
        #expect(try shown().isEmpty)
    }

    @Test(
        "only the account itself publishes displayed messages",
        arguments: ["romeo@example.net", "juliet@example.org/balcony", "example.org"])
    func foreign(_ from: String) throws {
        try message("one")
        try event(item("one"), from: from)
        try event(item("one"), node: "urn:other")
        #expect(try shown() == ["show one"])
        try event(item("one"), from: nil)
        #expect(try shown() == ["withdraw one"])
    }

    @Test("a new session asks for displayed messages")
    func asks() throws {
        #expect(try harness.waiting(DisplayedNodeResponse.name).isEmpty)
        try message("one")
        #expect(try shown() == ["show one"])
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        let id = try #require(try harness.waiting(DisplayedNodeResponse.name).first)
        let question = try harness.request(id)
        #expect(question["type"] == "get" && question["to"] == nil)
        #expect(
            question.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")?["node"]
                == DisplayedNode.name)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='urn:xmpp:mds:displayed:0'>\(item("one"))</items></pubsub></iq>
            """)
        #expect(try shown() == ["withdraw one"])
    }

    @Test("a server without such a node changes nothing")
    func without() throws {
        try message("one")
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        let id = try #require(try harness.waiting(DisplayedNodeResponse.name).first)
        try harness.receive(
            """
            <iq type='error' id='\(id)'><error type='cancel'>\
            <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try shown() == ["show one"])
        #expect(try harness.number("SELECT count(*) FROM dead_letter") == 0)
    }

    @Test("we tell the server that we want these events")
    func announces() throws {
        #expect(Features.passive.capabilities.info.supports("urn:xmpp:mds:displayed:0+notify"))
    }
}
