import KalijAddress
import KalijCoordination
import KalijStore
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "A second `send` with the same own id is not sent again but answered with the stored message's state."
@Suite struct OwnIDTests {
    private func romeo() throws -> JID { try JID("romeo@example.net") }

    private func accept(_ harness: StepHarness, _ body: String, id: String?) throws -> Message {
        try OutgoingMessages.accept(
            body, to: romeo(), of: harness.account, in: harness.database, clock: harness.clock.clock, id: id)
    }

    @Test("a message accepted twice under one id is sent once; the second call returns its present state")
    func accepted() throws {
        let harness = try StepHarness.online()
        try harness.acknowledgeAll()
        let first = try accept(harness, "hello", id: "answer-1")
        #expect(first.originID == "answer-1")
        #expect(try accept(harness, "hello", id: "answer-1") == first)
        #expect(try harness.queue() == ["message chat hello"])
        try harness.write()
        #expect(try accept(harness, "hello", id: "answer-1").state == .sent)
        try harness.acknowledgeAll()
        #expect(try accept(harness, "hello again", id: "answer-1").body == "hello")
        #expect(try accept(harness, "hello", id: "answer-1").state == .acked)
        #expect(try harness.queue().isEmpty && harness.history() == ["out hello (acked)"])
        #expect(try accept(harness, "hello", id: "answer-2").state == .queued)
    }

    @Test("a message shared twice under one id is sent once, whether it was taken over or not")
    func shared() throws {
        let harness = try StepHarness.online()
        try harness.acknowledgeAll()
        let taking = MailboxImporter(
            runner: harness.runner, store: try Mailbox(directory: harness.directory.path).parcels)
        for _ in 0..<2 {
            #expect(try harness.directory.share("hello", to: romeo(), id: "answer-1").state == .queued)
        }
        let shown = try HistoryReader(harness.directory).messages(of: harness.account, with: nil, limit: 9)
        #expect(shown.map(\.originID) == ["answer-1"])
        try taking.run { _, _ in }
        #expect(try harness.queue() == ["message chat hello"])
        try harness.write()
        try harness.acknowledgeAll()
        #expect(try harness.directory.share("hello", to: romeo(), id: "answer-1").state == .acked)
        #expect(try accept(harness, "hello", id: "answer-1").state == .acked)
        #expect(try !taking.hasItems)
        #expect(try harness.history() == ["out hello (acked)"])
    }

    @Test("each account has ids of its own; the id of another device's message does not count")
    func others() throws {
        let harness = try StepHarness.online()
        try harness.acknowledgeAll()
        try harness.receive(
            """
            <message from='juliet@example.org' to='juliet@example.org/balcony' type='chat'>\
            <sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            <message xmlns='jabber:client' from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='answer-1'>\
            <body>other</body><origin-id xmlns='urn:xmpp:sid:0' id='answer-1'/></message></forwarded></sent></message>
            """)
        #expect(try accept(harness, "hello", id: "answer-1").body == "hello")
        #expect(try harness.queue() == ["message chat hello"])
    }

    @Test(
        "an id that could be changed on the way is refused",
        arguments: ["", " ", "a b", "a\n", "\u{1}", "\u{A0}", "\u{FFFE}", String(repeating: "x", count: 257)])
    func refused(_ id: String) throws {
        let harness = try StepHarness()
        #expect(throws: AcceptError.badID) { _ = try accept(harness, "hello", id: id) }
        #expect(throws: AcceptError.badID) { try harness.directory.share("hello", to: romeo(), id: id) }
        #expect(try harness.history().isEmpty)
        #expect(try accept(harness, "hello", id: "é<&'\"" + String(repeating: "x", count: 200)).state == .queued)
    }
}
