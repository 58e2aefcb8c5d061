import KalijStore
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "A row in the message's own transaction: what to show, for which conversation. Shown, then marked."
@Suite struct NotificationTests {
    private func harness() throws -> StepHarness {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        return harness
    }

    private func message(_ id: String, _ body: String) -> String {
        "<message from='romeo@example.net/orchard' to='juliet@example.org' type='chat' id='\(id)'><body>\(body)</body></message>"
    }

    /// The notifications owed to the user, in short; marks them as shown.
    private func shown(_ harness: StepHarness) throws -> [String] {
        let outbox = NotificationOutbox(database: harness.database)
        let entries = try outbox.pending(limit: 100)
        try harness.database.transaction { try outbox.done(entries) }
        return entries.map { "\($0.notification.kind.rawValue) \($0.notification.body)" }
    }

    /// A carbon of a displayed marker that another device of the account has sent.
    private func marker(_ id: String) -> String {
        """
        <message from='juliet@example.org' to='juliet@example.org/balcony' type='chat'>\
        <sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        <message xmlns='jabber:client' from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='d'>\
        <displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/></message></forwarded></sent></message>
        """
    }

    @Test("A message is owed until it was shown; without a mark it is shown again, under the same identifier")
    func shows() throws {
        let harness = try harness()
        try harness.receive(message("1", "hello"))
        let outbox = NotificationOutbox(database: harness.database)
        let first = try #require(try outbox.pending(limit: 10).first?.notification)
        #expect(
            first.kind == .show && first.conversation == "romeo@example.net"
                && first.sender == "romeo@example.net/orchard")
        #expect(try outbox.pending(limit: 10).map(\.notification) == [first])
        #expect(try shown(harness) == ["show hello"])
        #expect(try shown(harness).isEmpty)
    }

    @Test("Owed notifications of any number and length are all read, in portions of about 256 KiB")
    func portions() throws {
        let harness = try harness()
        let body = String(repeating: "long ", count: 25_000)
        for number in 0..<7 { try harness.receive(message("\(number)", body)) }
        try harness.receive(message("last", "short"))
        let outbox = NotificationOutbox(database: harness.database)
        var all: [String] = []
        while true {
            let entries = try outbox.pending(limit: 100)
            guard !entries.isEmpty else { break }
            #expect(entries.map(\.notification.body.utf8.count).reduce(0, +) <= 256 << 10 + body.utf8.count)
            try harness.database.transaction { try outbox.done(entries) }
            all += entries.map(\.notification.identifier)
        }
        #expect(all.count == 8 && Set(all).count == 8)
    }

    @Test("A message displayed on another device is withdrawn if it was shown, and not shown otherwise")
    func withdraws() throws {
        let harness = try harness()
        try harness.receive(message("1", "one"))
        #expect(try shown(harness) == ["show one"])
        try harness.receive(message("2", "two"))
        try harness.receive(message("3", "three"))
        try harness.receive(marker("2"))
        #expect(try shown(harness) == ["withdraw one", "show three"])
        #expect(try shown(harness).isEmpty)
    }

    @Test("A notification perhaps shown by a process that died is withdrawn when the message was read elsewhere")
    func withdrawsWhatWasBegun() throws {
        let harness = try harness()
        try harness.receive(message("1", "one"))
        let outbox = NotificationOutbox(database: harness.database)
        let entries = try outbox.pending(limit: 10)
        try harness.database.transaction { try outbox.begin(entries) }
        #expect(try outbox.pending(limit: 10).map(\.notification) == entries.map(\.notification), "owed still")
        try harness.receive(message("2", "two"))
        try harness.receive(marker("2"))
        #expect(try shown(harness) == ["withdraw one"], "two was never shown")
        #expect(try shown(harness).isEmpty)
    }

    @Test("A marker that somebody else sends withdraws nothing")
    func foreignMarker() throws {
        let harness = try harness()
        try harness.receive(message("1", "one"))
        #expect(try shown(harness) == ["show one"])
        try harness.receive(
            "<message from='romeo@example.net/orchard' type='chat'><displayed xmlns='urn:xmpp:chat-markers:0' id='1'/></message>"
        )
        #expect(try shown(harness).isEmpty)
    }

    @Test("Where the user sees messages anyway, nothing is owed")
    func foreground() throws {
        let harness = try StepHarness.online()
        try harness.receive(message("1", "one"))
        #expect(try shown(harness).isEmpty)
    }
}
