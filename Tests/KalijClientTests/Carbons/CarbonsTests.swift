import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// XEP-0280 sections 3 and 4: the server is asked for support, and then for copies.
struct CarbonsTests {
    private func bound(_ desk: Desk? = nil) throws -> Desk {
        let desk = try desk ?? Desk()
        try desk.bind(askingServer: true)
        return desk
    }

    private func tellFeatures(_ desk: Desk, _ features: [String]) throws {
        let id = try #require(try desk.waiting("carbons.server").last)
        let list = features.map { "<feature var='\($0)'/>" }.joined()
        try desk.receive(
            """
            <iq type='result' id='\(id)' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <identity category='server' type='im'/>\(list)</query></iq>
            """)
    }

    private func enabled(_ desk: Desk) throws -> Bool { try desk.number("SELECT carbons FROM session") == 1 }

    @Test("a server with carbons is asked to copy, once in a session; the archive is read again afterwards")
    func enabling() throws {
        let desk = try bound()
        try tellFeatures(desk, ["urn:xmpp:carbons:2", "urn:xmpp:ping"])
        let ids = try desk.waiting("carbons.enabled")
        #expect(ids.count == 1)
        let request = try desk.request(ids[0])
        #expect(request["type"] == "set" && request["to"] == nil)
        #expect(request.children.map(\.name) == ["enable"] && request.children[0].namespace == "urn:xmpp:carbons:2")
        #expect(try !enabled(desk))
        let effects = try desk.receive("<iq type='result' id='\(ids[0])' from='juliet@example.org'/>")
        #expect(effects.archiveAgain)
        #expect(try enabled(desk))
        // The server's features are known for the rest of the session.
        let knows = try desk.perform { try $0.discovery.supports("urn:xmpp:ping", .received("example.org")) }
        #expect(knows == true)
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        #expect(try desk.waiting("carbons.server").isEmpty && desk.waiting("carbons.enabled").isEmpty)
        #expect(try enabled(desk), "a resumed session goes on as it was")
    }

    @Test("a server without carbons is not asked")
    func unsupported() throws {
        let desk = try bound()
        try tellFeatures(desk, ["urn:xmpp:carbons:1", "urn:xmpp:ping"])
        #expect(try desk.waiting("carbons.enabled").isEmpty)
        #expect(try !enabled(desk))
    }

    @Test("the server is asked to copy before the archive is read, and before presence")
    func order() throws {
        let desk = try bound()
        try tellFeatures(desk, ["urn:xmpp:carbons:2"])
        try desk.answerFeatures(archive: true)
        try desk.answerPage(complete: true)
        let queue = try desk.queue()
        let enable = try #require(queue.firstIndex(of: "iq set enable"))
        #expect(enable < (try #require(queue.firstIndex(of: "iq set query"))))
        #expect(enable < (try #require(queue.firstIndex(of: "presence c"))))
    }

    @Test("a new session begins anew; answers of the old session change nothing")
    func newSession() throws {
        let desk = try bound()
        try tellFeatures(desk, ["urn:xmpp:carbons:2"])
        let old = try #require(try desk.waiting("carbons.enabled").last)
        _ = try desk.steps.resumeFailed(nil)
        _ = try bound(desk)
        #expect(try desk.waiting("carbons.server").count == 1 && desk.waiting("carbons.enabled").isEmpty)
        try desk.receive("<iq type='result' id='\(old)' from='juliet@example.org'/>")
        #expect(try !enabled(desk))
        try tellFeatures(desk, ["urn:xmpp:carbons:2"])
        #expect(try desk.waiting("carbons.enabled").count == 1)
    }

    @Test("a refusal is accepted; without an answer the request is sent three times")
    func unanswered() throws {
        let desk = try bound()
        try tellFeatures(desk, ["urn:xmpp:carbons:2"])
        for attempt in 1...3 {
            #expect(try desk.waiting("carbons.enabled").count == 1, "attempt \(attempt)")
            try desk.write()
            try desk.acknowledgeAll()
            try desk.letExpire()
        }
        #expect(try desk.waiting("carbons.enabled").isEmpty)

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
