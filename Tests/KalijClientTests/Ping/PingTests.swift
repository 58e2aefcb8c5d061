import KalijHandlers
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0199: asked and answered.
struct PingTests {
    enum Pinging: Feature {
        static let name = "org.example.pinging"
        static let handlerPrefix = "log"
        static var handlers: [any Handler<Step>.Type] { [Pong.self] }
    }

    struct Pong: Handler {
        static let name = "log.pong"
        func call(_ reply: IQReply, in step: Step) throws {
            if case .result = reply { try Log.write("\(step.roundTrip ?? -1) ms", in: step) }
        }
    }

    @Test("the round trip counts from the last sending of the ping to the answer, over a change of processes")
    func roundTrip() throws {
        let harness = try StepHarness(features: [Pinging.self])
        try harness.bind(answered: .all)
        let id = try harness.perform { try $0.ping(.received("romeo@example.net/orchard"), then: Pong()) }
        let request = try harness.request(id)
        #expect(request["type"] == "get" && request.child("ping", "urn:xmpp:ping") != nil)
        harness.clock.move(by: 5000)  // not sent yet
        try harness.write()
        harness.clock.move(by: 42)
        let pong = try Element.parse(
            StepHarness.inClient(
                "<iq type='result' id='\(id)' from='romeo@example.net/orchard' to='juliet@example.org'/>"))
        let other = try harness.inAnotherProcess([Pinging.self])
        _ = try other.handle(pong, count: try other.load().handled.advanced())
        #expect(try harness.log() == ["42 ms"])
    }

    /// Sections 4.1 (from the server), 4.4 (from another client).
    @Test(
        "a ping is answered if the sender may know that we are online",
        arguments: ["example.org", "romeo@example.net/orchard", nil])
    func answered(_ from: String?) throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe("romeo@example.net")
        let sender = from.map { " from='\($0)'" } ?? ""
        try harness.receive(
            "<iq\(sender) to='juliet@example.org/balcony' id='s2c1' type='get'><ping xmlns='urn:xmpp:ping'/></iq>")
        let entry = try #require(
            OutboundQueue(database: harness.database, account: harness.account.id).entries(after: 0, limit: 9).last)
        let pong = try Element.parse(StepHarness.inClient(String(decoding: entry.stanza, as: UTF8.self)))
        #expect((pong["type"], pong["id"], pong["to"]) == ("result", "s2c1", from))
        #expect(pong.children.isEmpty)
    }
}
