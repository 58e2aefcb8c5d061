import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0490: other devices of the account learn what was read here.
struct DisplayedNodeTests {
    private typealias R = ReadingHarness
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    @Test("the node is created and configured first; then the place is published with two options")
    func creates() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        try r.read()
        let create = try r.harness.request(try #require(try r.harness.waiting(NodeCreateResponse.name).last))
        let content = try #require(create.child("pubsub", Self.pubsub))
        #expect(content.child("create")?["node"] == "urn:xmpp:mds:displayed:0")
        #expect(
            Self.fields(in: content.child("configure")) == [
                "FORM_TYPE=\(Self.pubsub)#node_config", "pubsub#max_items=max", "pubsub#access_model=whitelist",
                "pubsub#persist_items=1", "pubsub#send_last_published_item=never",
            ])
        #expect(try r.published().isEmpty)
        try r.answer(NodeCreateResponse.name)
        #expect(try r.published() == ["\(R.romeo) archived-one"])
        let publish = try r.harness.request(try #require(try r.harness.waiting(DisplayedPublishResponse.name).last))
        #expect(
            Self.fields(in: publish.child("pubsub", Self.pubsub)?.child("publish-options")) == [
                "FORM_TYPE=\(Self.pubsub)#publish-options", "pubsub#persist_items=true",
                "pubsub#access_model=whitelist",
            ])
        try r.answer(DisplayedPublishResponse.name)
        #expect(try r.harness.number("SELECT count(*) FROM displayed WHERE unpublished = 1") == 0)
    }

    private static func fields(in parent: Element?) -> [String] {
        (parent?.child("x", "jabber:x:data")?.children("field") ?? []).map {
            "\($0["var"] ?? "-")=\($0.child("value")?.text ?? "-")"
        }
    }

    @Test("a node that exists is configured")
    func configures() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        try r.read()
        try r.answer(NodeCreateResponse.name, error: "conflict")
        let configure = try r.harness.request(try #require(try r.harness.waiting(NodeConfigureResponse.name).last))
        let content = configure.child("pubsub", Self.pubsub + "#owner")?.child("configure")
        #expect(content?["node"] == "urn:xmpp:mds:displayed:0" && Self.fields(in: content).count == 5)
        #expect(try r.published().isEmpty)
        try r.answer(NodeConfigureResponse.name)
        #expect(try r.published().count == 1)
    }

    /// A harness whose node is ready.
    private func ready() throws -> ReadingHarness {
        let r = try R()
        try r.harness.database.run("INSERT INTO node VALUES (1, 'urn:xmpp:mds:displayed:0', 'ready')")
        return r
    }

    @Test("one request is open at a time; the newest place wins")
    func oneAtATime() throws {
        let r = try ready()
        for id in ["one", "two", "three"] {
            try r.harness.receive(R.message(id))
            try r.read()
        }
        try r.harness.receive(R.message("nurse", from: "nurse@example.net"))
        try r.read("nurse@example.net")
        #expect(try r.published() == ["\(R.romeo) archived-one"])
        try r.answer(DisplayedPublishResponse.name)
        try r.answer(DisplayedPublishResponse.name)
        try r.answer(DisplayedPublishResponse.name)
        #expect(
            Set(try r.published()) == [
                "\(R.romeo) archived-one", "\(R.romeo) archived-three", "nurse@example.net archived-nurse",
            ])
        #expect(try r.harness.waiting(DisplayedPublishResponse.name).isEmpty)
    }

    @Test(
        "after a lost session the place is published anew, unless another device is further by then",
        arguments: [true, false])
    func lostSession(overtaken: Bool) throws {
        let r = try ready()
        for id in ["one", "two"] { try r.harness.receive(R.message(id)) }
        try r.read(through: "one")
        try r.harness.write()
        try r.harness.bind(resumeID: "session-2", answered: .all)
        try r.harness.answerFeatures(archive: true)
        try r.harness.answerPage(complete: true)
        #expect(
            try r.harness.waiting(DisplayedPublishResponse.name).isEmpty,
            "first it is asked what other devices have read")
        try r.answerItems(overtaken ? [R.item("two")] : [])
        try r.harness.answerPage(complete: true)
        #expect(try r.published().count == (overtaken ? 0 : 1))
        #expect(try r.unread() == (overtaken ? 0 : 1))
    }

    @Test("a device that has not seen our place has put the node back: our place is published again")
    func putBack() throws {
        let r = try ready()
        for id in ["one", "two"] { try r.harness.receive(R.message(id)) }
        try r.read()
        try r.answer(DisplayedPublishResponse.name)
        try r.harness.receive(R.event(R.item("two")))
        #expect(try r.harness.waiting(DisplayedPublishResponse.name).isEmpty)
        try r.harness.receive(R.event(R.item("one")))
        #expect(try r.published().last == "\(R.romeo) archived-two")
        #expect(try r.unread() == 0)
    }

    @Test("history that counts as read here is not published: other devices have not shown it")
    func history() throws {
        let r = try R(caughtUp: false)
        try r.harness.database.run("INSERT INTO node VALUES (1, 'urn:xmpp:mds:displayed:0', 'ready')")
        for id in ["one", "two"] {
            try r.harness.receive(try r.harness.archived("archived-\(id)", R.message(id, stamped: false)))
        }
        try r.harness.receive(R.event(R.item("one")))
        #expect(try r.unread() == 0 && r.published().isEmpty)
    }

    @Test("a message gets its id from the archive later: then its place is published; without an id, never")
    func stamp() throws {
        let r = try ready()
        try r.harness.receive(R.message("one", stamped: false))
        try r.read()
        #expect(try r.published().isEmpty)
        try r.harness.database.run("UPDATE message SET stanza_id = 'late' WHERE message_id = 'one'")
        try r.harness.receive(R.message("nurse", from: "nurse@example.net", stamped: false))
        try r.read("nurse@example.net")
        try r.harness.perform { step in
            for observer in step.hooks.archiveObservers { try observer.didSyncArchive(in: step) }
        }
        #expect(try r.published() == ["\(R.romeo) late"])
        try r.answer(DisplayedPublishResponse.name)
        #expect(try r.harness.number("SELECT count(*) FROM displayed WHERE unpublished = 1") == 0)
    }

    @Test("a node in another configuration is prepared again, once; a server without nodes is left alone")
    func refused() throws {
        let r = try ready()
        try r.harness.receive(R.message("one"))
        try r.read()
        try r.answer(DisplayedPublishResponse.name, error: "conflict")
        try r.answer(NodeCreateResponse.name, error: "conflict")
        try r.answer(NodeConfigureResponse.name)
        try r.answer(DisplayedPublishResponse.name, error: "conflict")
        #expect(
            try r.harness.waiting(NodeCreateResponse.name).isEmpty
                && r.harness.waiting(DisplayedPublishResponse.name).isEmpty)
        let other = try R()
        try other.harness.receive(R.message("one"))
        try other.read()
        try other.answer(NodeCreateResponse.name, error: "service-unavailable")
        #expect(try other.published().isEmpty && other.unread() == 0)
        #expect(try other.harness.number("SELECT count(*) FROM dead_letter") == 0)
    }

    @Test("a session lost while the node is being prepared: the next session begins again")
    func lostPreparing() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        try r.read()
        try r.harness.write()
        try r.harness.bind(resumeID: "session-2", answered: .all)
        try r.harness.answerFeatures(archive: true)
        try r.harness.answerPage(complete: true)
        try r.answerItems([])
        #expect(try r.harness.waiting(NodeCreateResponse.name).count == 1)
        try r.answer(NodeCreateResponse.name)
        #expect(try r.published().count == 1)
    }

    @Test("a place is not put back while it waits for a message of another device's")
    func waits() throws {
        let r = try ready()
        try r.harness.receive(R.message("one"))
        #expect(
            try r.harness.receive(R.event(R.item("later"))).isSignalled(HistoryFeature.self),
            "the archive may have the message")
        try r.read()
        #expect(try r.published().isEmpty)
        try r.harness.receive(R.message("later"))
        #expect(try r.unread() == 0 && r.published().isEmpty)
    }
}
