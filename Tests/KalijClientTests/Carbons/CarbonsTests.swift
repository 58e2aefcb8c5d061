import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0280 sections 3 and 4: the server is asked for support, and then for copies.
struct CarbonsTests {
    private func bound(_ harness: StepHarness? = nil) throws -> StepHarness {
        let harness = try harness ?? StepHarness()
        try harness.bind(answered: .all(but: .features))
        return harness
    }

    private func tellFeatures(_ harness: StepHarness, _ features: [String]) throws {
        let id = try #require(try harness.waiting("carbons.server").last)
        let list = features.map { "<feature var='\($0)'/>" }.joined()
        try harness.receive(
            """
            <iq type='result' id='\(id)' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <identity category='server' type='im'/>\(list)</query></iq>
            """)
    }

    private func enabled(_ harness: StepHarness) throws -> Bool {
        try harness.number("SELECT carbons FROM session") == 1
    }

    @Test("a server with carbons is asked to copy, once in a session; the archive is read again afterwards")
    func enabling() throws {
        let harness = try bound()
        try tellFeatures(harness, ["urn:xmpp:carbons:2", "urn:xmpp:ping"])
        let ids = try harness.waiting("carbons.enabled")
        #expect(ids.count == 1)
        let request = try harness.request(ids[0])
        #expect(request["type"] == "set" && request["to"] == nil)
        #expect(request.children.map(\.name) == ["enable"] && request.children[0].namespace == "urn:xmpp:carbons:2")
        #expect(try !enabled(harness))
        let effects = try harness.receive("<iq type='result' id='\(ids[0])' from='juliet@example.org'/>")
        #expect(effects.isSignalled(HistoryFeature.self))
        #expect(try enabled(harness))
        // The server's features are known for the rest of the session.
        let knows = try harness.perform { try $0.discovery.supports("urn:xmpp:ping", .received("example.org")) }
        #expect(knows == true)
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.waiting("carbons.server").isEmpty && harness.waiting("carbons.enabled").isEmpty)
        #expect(try enabled(harness), "a resumed session goes on as it was")
    }

    @Test("a server without carbons is not asked")
    func unsupported() throws {
        let harness = try bound()
        try tellFeatures(harness, ["urn:xmpp:carbons:1", "urn:xmpp:ping"])
        #expect(try harness.waiting("carbons.enabled").isEmpty)
        #expect(try !enabled(harness))
    }

    @Test("the server is asked to copy before the archive is read, and before presence")
    func order() throws {
        let harness = try bound()
        try tellFeatures(harness, ["urn:xmpp:carbons:2"])
        try harness.answerFeatures(archive: true)
        try harness.answerPage(complete: true)
        let queue = try harness.queue()
        let enable = try #require(queue.firstIndex(of: "iq set enable"))
        #expect(enable < (try #require(queue.firstIndex(of: "iq set query"))))
        #expect(enable < (try #require(queue.firstIndex(of: "presence c"))))
    }

    @Test("a new session begins anew; answers of the old session change nothing")
    func newSession() throws {
        let harness = try bound()
        try tellFeatures(harness, ["urn:xmpp:carbons:2"])
        let old = try #require(try harness.waiting("carbons.enabled").last)
        _ = try harness.steps.resumeFailed(nil)
        _ = try bound(harness)
        #expect(try harness.waiting("carbons.server").count == 1 && harness.waiting("carbons.enabled").isEmpty)
        try harness.receive("<iq type='result' id='\(old)' from='juliet@example.org'/>")
        #expect(try !enabled(harness))
        try tellFeatures(harness, ["urn:xmpp:carbons:2"])
        #expect(try harness.waiting("carbons.enabled").count == 1)
    }

    @Test("a refusal is accepted; without an answer the request is sent three times")
    func unanswered() throws {
        let harness = try bound()
        try tellFeatures(harness, ["urn:xmpp:carbons:2"])
        for attempt in 1...3 {
            #expect(try harness.waiting("carbons.enabled").count == 1, "attempt \(attempt)")
            try harness.write()
            try harness.acknowledgeAll()
            try harness.letExpire()
        }
        #expect(try harness.waiting("carbons.enabled").isEmpty)

        let other = try bound()
        try tellFeatures(other, ["urn:xmpp:carbons:2"])
        let id = try #require(try other.waiting("carbons.enabled").last)
        try other.receive(
            """
            <iq type='error' id='\(id)' from='juliet@example.org'><error type='auth'><forbidden \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try !enabled(other) && other.waiting("carbons.enabled").isEmpty)
    }
}
