import KalijAddress
import KalijStream
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Nothing larger than the server's limit is ever queued, whatever a peer sends; a stanza that ended a session twice is set aside
/// with the reason."
struct QueueLimitTests {
    private static let limit = 60_000

    private func queue(_ harness: StepHarness) -> OutboundQueue {
        OutboundQueue(database: harness.database, account: harness.account.id)
    }

    private func stanzas(_ harness: StepHarness) throws -> [[UInt8]] {
        try queue(harness).entries(after: 0, limit: 1000).map(\.stanza)
    }

    /// Attacked: the answer to a ping with an id of 100 kB had 600 kB, and the server ended the stream.
    @Test("a question with a huge id is not answered", arguments: ["ping", "query"])
    func ping(_ name: String) throws {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe("romeo@example.net")
        let namespace = name == "ping" ? "urn:xmpp:ping" : "http://jabber.org/protocol/disco#info"
        for id in [String(repeating: "&amp;", count: 20_000), String(repeating: "x", count: 100_000)] {
            try harness.receive(
                "<iq type='get' from='romeo@example.net/x' id='\(id)'><\(name) xmlns='\(namespace)'/></iq>")
            try harness.receive("<iq type='set' from='romeo@example.net/x' id='\(id)'><x xmlns='urn:x'/></iq>")
            try harness.receive("<iq type='get' from='mallory@example.net/x' id='\(id)'><x xmlns='urn:x'/></iq>")
        }
        #expect(try harness.queue().isEmpty)
        try harness.receive("<iq type='get' from='romeo@example.net/x' id='q'><\(name) xmlns='\(namespace)'/></iq>")
        #expect(try harness.queue().count == 1)
    }

    @Test("an application's stanzas are limited, too, by the server's announcement (XEP-0478)")
    func announced() throws {
        let harness = try StepHarness.caughtUp()
        func send(_ bytes: Int) throws {
            try harness.perform {
                try $0.send(
                    Element("message", xmlns: "jabber:client", attributes: ["id": String(repeating: "x", count: bytes)])
                )
            }
        }
        #expect(throws: StanzaTooLong.self) { try send(Self.limit) }
        try send(50_000)
        try harness.offer(largestStanza: 20_000)
        #expect(throws: StanzaTooLong.self) { try send(50_000) }
        #expect(throws: StanzaTooLong.self) { try harness.accept(String(repeating: "x", count: 50_000)) }
        #expect(try harness.number("SELECT count(*) FROM message WHERE direction = 'out'") == 0)
        try harness.offer(largestStanza: 200_000)
        try send(150_000)
    }

    @Test(
        "stanzas queued before the server lowered its limit are set aside: a message fails, other stanzas are dead letters"
    )
    func setAside() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept(String(repeating: "x", count: 50_000))
        try harness.accept("short")
        try harness.perform {
            try $0.send(
                Element("message", xmlns: "jabber:client", attributes: ["id": String(repeating: "x", count: 40_000)]))
        }
        #expect(try harness.queueSteps.setAsideTooLong(try queue(harness).entries(after: 0, limit: 9)) == nil)
        try harness.offer(largestStanza: 20_000)
        let effects = try #require(
            try harness.queueSteps.setAsideTooLong(try queue(harness).entries(after: 0, limit: 9)))
        #expect(effects.told.count == 2)
        #expect(try harness.queue() == ["message chat short"])
        let error = try harness.text("SELECT error FROM message WHERE state = 'failed'")
        #expect(error.map(Reason.init(stored:))?.description.hasSuffix("the server takes at most 20000") == true)
        #expect(
            try harness.text("SELECT origin || reason FROM dead_letter")?.hasPrefix("queuethe stanza has 40") == true)
    }

    @Test(
        "after the server ended a session, its unacknowledged stanzas leave one at a time; the stanza to blame is set aside"
    )
    func blamed() throws {
        let harness = try StepHarness.caughtUp()
        let error = StreamError(.policyViolation, text: "too big")
        for body in ["one", "two", "three"] { try harness.accept(body) }
        var writer = OutboundWriter()
        func write() throws -> [String] {
            let next = try queue(harness).entries(after: writer.position, limit: 50)
            let entries = Array(writer.transmitting(next))
            _ = try harness.queueSteps.transmitting(entries)
            writer.wrote(entries)
            return try entries.map { try Element.parse($0.stanza).findFirst("body#") ?? "-" }
        }
        #expect(try write() == ["one", "two", "three"])
        #expect(try harness.queueSteps.blamed(through: writer.position, for: error).told.isEmpty)
        writer = OutboundWriter()
        #expect(try write() == ["one"])
        #expect(try write() == [], "one is not acknowledged")
        try harness.accept("four")
        _ = try harness.steps.acknowledged(try harness.steps.load().acknowledged.advanced())
        _ = writer.acknowledged(1)
        #expect(try write() == ["two"])
        #expect(try harness.queueSteps.blamed(through: writer.position, for: error).told == ["two is failed"])
        #expect(try harness.text("SELECT error FROM message WHERE body = 'two'")?.contains("too big") == true)
        writer = OutboundWriter()
        #expect(try write() == ["three"])
        _ = writer.acknowledged(1)
        #expect(try write() == ["four"], "what was never blamed leaves as always")
    }

    @Test(
        "a server's own end, or an error about the stream, blames no stanza",
        arguments: [StreamError.Condition.conflict, .systemShutdown, .connectionTimeout, .notWellFormed, .reset])
    func innocent(_ condition: StreamError.Condition) { #expect(!StreamError(condition).mayBlameStanza) }

    @Test("ids of an archive that would not fit into a question are no ids")
    func cursor() throws {
        let harness = try StepHarness.reading()
        let id = String(repeating: "x", count: 100_000)
        try harness.receive(try harness.result(id, "one"))
        try harness.fin("page", last: id)
        #expect(try stanzas(harness).allSatisfy { $0.count < 2000 })
        #expect(try harness.number("SELECT count(*) FROM message") == 0)
    }

    /// Inbound stanzas of up to a megabyte, from anybody, with anything.
    @Test(
        "after any input, the queue holds well-formed stanzas within the limit, and is empty after the server's acknowledgement"
    )
    func anything() throws {
        var random = Seeded(RandomInput.seed(2026))
        for _ in 0..<RandomInput.rounds(5) {
            let harness = try ForwardingTests.harness()
            for _ in 0..<30 { try harness.receive(Self.stanza(&random)) }
            for stanza in try stanzas(harness) {
                #expect(stanza.count <= Self.limit)
                #expect(throws: Never.self) {
                    try Element.parse(StepHarness.inClient(String(decoding: stanza, as: UTF8.self)))
                }
            }
            _ = try harness.steps.resumeFailed(nil)
            try harness.bind(resumeID: "session-2", answered: .all)
            try harness.write()
            try harness.acknowledgeAll()
            try harness.answerFeatures(archive: false)
            try harness.acknowledgeAll()
            #expect(try harness.queue().isEmpty)
        }
    }

    private static func stanza(_ random: inout Seeded) -> String {
        let piece = random.pick(["x", "&amp;", "&lt;", "ü", "&#9;", " "])
        // Now and then as large as a server passes on.
        let size = random.chance(20) ? random.below(250_000 / piece.utf8.count) : random.below(200)
        let long = String(repeating: piece, count: size)
        let short = "s\(random.below(1000))"
        func text(_ random: inout Seeded) -> String { random.chance(40) ? long : short }
        let from = random.pick([
            " from='mallory@example.com/\(random.below(3))'", " from='romeo@example.net/x'", "",
            " from='juliet@example.org'",
            " from='orchard@muc.example.org/n'",
        ])
        let payload = random.pick([
            "<ping xmlns='urn:xmpp:ping'/>",
            "<query xmlns='http://jabber.org/protocol/disco#info' node='\(text(&random))'/>",
            "<query xmlns='http://jabber.org/protocol/disco#items'/>", "<body>\(text(&random))</body>",
            "<query xmlns='jabber:iq:roster'><item jid='\(short)@example.org' subscription='from'/></query>",
            "<x xmlns='urn:x' a='\(text(&random))'>\(text(&random))</x>",
            "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='\(text(&random))' ver='\(text(&random))'/>",
            "<request xmlns='urn:xmpp:receipts'/><body>x</body>",
            "<error type='cancel'><gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>\(text(&random))</gone></error>",
        ])
        let id = " id='\(text(&random))'"
        return switch random.below(4) {
        case 0: "<message\(from)\(id) type='\(random.pick(["chat", "error", "groupchat", "x"]))'>\(payload)</message>"
        case 1: "<presence\(from)\(id)>\(payload)</presence>"
        default: "<iq\(from)\(id) type='\(random.pick(["get", "set", "get", "result", "error"]))'>\(payload)</iq>"
        }
    }
}
