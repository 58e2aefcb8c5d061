import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// RFC 6120, 8.2.3: each request gets exactly one answer; an answer counts only from the responder.
struct QueryTests {
    private func answers(to xml: String) throws -> [Element] {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe("a@b")
        try harness.receive(xml)
        return try OutboundQueue(database: harness.database, account: harness.account.id).entries(after: 0, limit: 9)
            .map {
                try Element.parse(StepHarness.inClient(String(decoding: $0.stanza, as: UTF8.self)))
            }
    }

    @Test("a ping is answered (XEP-0199)")
    func ping() throws {
        let answers = try answers(to: "<iq type='get' from='example.org' id='p'><ping xmlns='urn:xmpp:ping'/></iq>")
        let expected = try Element.parse("<iq xmlns='jabber:client' type='result' to='example.org' id='p'/>")
        #expect(answers == [expected])
    }

    @Test("an unknown request is refused with service-unavailable", arguments: ["get", "set"])
    func unknown(_ type: String) throws {
        let answers = try answers(to: "<iq type='\(type)' from='a@b/c' id='u'><query xmlns='urn:unknown'/></iq>")
        let answer = try #require(answers.first)
        #expect(answers.count == 1)
        #expect((answer["type"], answer["id"], answer["to"]) == ("error", "u", "a@b/c"))
        let error = try #require(answer.child("error"))
        #expect(error.child("service-unavailable", "urn:ietf:params:xml:ns:xmpp-stanzas") != nil)
    }

    @Test("answers are not answered", arguments: ["result", "error"])
    func answered(_ type: String) throws {
        #expect(try answers(to: "<iq type='\(type)' from='a@b/c' id='u'/>").isEmpty)
    }

    @Test(
        "an answer counts from the account alone, and once",
        arguments: ["mallory@example.net", "juliet@example.org/garden"])
    func responder(_ from: String) throws {
        let harness = try StepHarness.online()
        let id = try #require(try harness.questions("features").last)
        try harness.receive("<iq type='result' id='\(id)' from='\(from)'/>")
        #expect(try harness.questions("features") == [id])
        try harness.receive("<iq type='result' id='\(id)' from='juliet@example.org/balcony'/>")
        #expect(try harness.questions("features").isEmpty)
        let queue = try harness.queue()
        try harness.receive("<iq type='result' id='\(id)'/>")
        #expect(try harness.queue() == queue)
    }
}
