import KalijHandlers
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0030: questions for the features and items of other entities.
struct AskingTests {
    enum Asking: Feature {
        static let name = "org.example.asking"
        static let handlerPrefix = "log"
        static var handlers: [any Handler<Step>.Type] { [Found.self, Listed.self] }
    }

    struct Found: InvalidatableHandler {
        static let name = "log.found"
        var text: String
        func call(_ reply: DiscoveryReply<DiscoveryInfo>, in step: Step) throws {
            switch reply {
            case .found(let info): try Log.write("\(text): \(info.identities.map(\.category))", in: step)
            case .refused(let error): try Log.write("\(text): \(error.condition.rawValue)", in: step)
            case .timeout: try Log.write("\(text): timeout", in: step)
            }
        }
        func invalidate(_ reason: Invalidation, in step: Step) throws { try Log.write("\(text): \(reason)", in: step) }
    }

    struct Listed: Handler {
        static let name = "log.listed"
        func call(_ reply: DiscoveryReply<[DiscoveryItem]>, in step: Step) throws {
            guard case .found(let items) = reply else { return try Log.write("not listed", in: step) }
            for item in items { try Log.write("\(item.jid) \(item.node ?? "-") \(item.name ?? "-")", in: step) }
        }
    }

    private func harness() throws -> StepHarness {
        let harness = try StepHarness(features: [Asking.self])
        try harness.bind(answered: .all)
        return harness
    }

    private static let chat = """
        <query xmlns='http://jabber.org/protocol/disco#info'>\
        <identity category='conference' type='text' name='Play-Specific Chatrooms'/></query>
        """

    private func answer(
        _ harness: StepHarness, _ name: String, from: String, _ payload: String, type: String = "result"
    ) throws {
        let id = try #require(try harness.waiting(name).last)
        try harness.receive("<iq type='\(type)' id='\(id)' from='\(from)'>\(payload)</iq>")
    }

    @Test("the first answer comes from the entity, later answers from the cache, but never within the step")
    func info() throws {
        let harness = try harness()
        try harness.perform { try $0.discovery.ask(.received("plays.example.org"), then: Found(text: "first")) }
        try answer(harness, "discovery.info", from: "plays.example.org", Self.chat)
        #expect(try harness.log() == ["first: [\"conference\"]"])
        try harness.perform { step in
            try step.discovery.ask(.received("plays.example.org"), then: Found(text: "second"))
            try Log.write("step over", in: step)
        }
        while try harness.steps.due() != nil {}
        #expect(try harness.log() == ["first: [\"conference\"]", "step over", "second: [\"conference\"]"])
        #expect(try harness.count("request") == 1, "the question for features alone")
        #expect(try harness.supporting("urn:xmpp:ping").isEmpty)
    }

    @Test("a node is asked each time; the answer says nothing about the entity")
    func node() throws {
        let harness = try harness()
        try harness.perform {
            try $0.discovery.ask(.received("plays.example.org"), node: "n", then: Found(text: "node"))
        }
        let request = try harness.request(try #require(try harness.waiting("discovery.info").last))
        #expect(request.children[0]["node"] == "n" && request["to"] == "plays.example.org")
        try answer(harness, "discovery.info", from: "plays.example.org", Self.chat)
        #expect(try harness.knows("plays.example.org", "x") == nil)
    }

    @Test("a refusal, an empty answer, a timeout and a lost session reach the handler, each once")
    func failures() throws {
        let harness = try harness()
        let entity = "plays.example.org"
        try harness.perform { try $0.discovery.ask(.received(entity), then: Found(text: "a")) }
        try answer(
            harness, "discovery.info", from: entity,
            "<error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>", type: "error")
        try harness.perform { try $0.discovery.ask(.received(entity), then: Found(text: "b")) }
        try answer(harness, "discovery.info", from: entity, "")
        try harness.perform { try $0.discovery.ask(.received(entity), then: Found(text: "c")) }
        try harness.write()
        try harness.letExpire()
        try harness.perform { try $0.discovery.ask(.received(entity), then: Found(text: "d")) }
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(
            try harness.log() == ["a: item-not-found", "b: undefined-condition", "c: timeout", "d: session lost"])
    }

    /// XEP-0030 section 4.1, example 18.
    @Test("items are listed with their nodes and names")
    func items() throws {
        let harness = try harness()
        try harness.perform { try $0.discovery.askItems(of: .received("shakespeare.lit"), then: Listed()) }
        try answer(
            harness, "discovery.items", from: "shakespeare.lit",
            """
            <query xmlns='http://jabber.org/protocol/disco#items'>\
            <item jid='people.shakespeare.lit' name='Directory of Characters'/><item name='none'/>\
            <item jid='mim.shakespeare.lit' node='s2s' name='Gateway to Marlowe IM'/></query>
            """)
        #expect(
            try harness.log() == [
                "people.shakespeare.lit - Directory of Characters", "mim.shakespeare.lit s2s Gateway to Marlowe IM",
            ])
    }

    @Test("a handler that no process knows any more becomes a dead letter, and the answer is handled")
    func gone() throws {
        let harness = try harness()
        try harness.perform { try $0.discovery.ask(.received("plays.example.org"), then: Found(text: "gone")) }
        let id = try #require(try harness.waiting("discovery.info").last)
        let other = try harness.inAnotherProcess([])
        let iq = "<iq type='result' id='\(id)' from='plays.example.org'>\(Self.chat)</iq>"
        _ = try other.handle(try Element.parse(StepHarness.inClient(iq)), count: try other.load().handled.advanced())
        #expect(try harness.text("SELECT reason FROM dead_letter")?.contains("no such handler") == true)
    }
}
