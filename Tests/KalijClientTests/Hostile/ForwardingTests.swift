import KalijAddress
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A sender who wraps messages of others (XEP-0280, 0297, 0313, 0163) speaks only for the wrapper's own conversation,
/// except the account's own server.
struct ForwardingTests {
    static let room = "orchard@muc.example.org"
    private static let mallory = "mallory@example.com/evil"

    /// A harness that knows two contacts, has messages to and from both in all states, has shown and owed notifications,
    /// and is reading the archive of a room.
    static func harness() throws -> StepHarness {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        for id in ["a1", "a2"] { try harness.receive(try harness.result(id)) }
        try harness.answerPage(last: "a2", complete: true)
        try harness.answerPage(complete: true)
        for (contact, body) in [
            ("romeo@example.net", "to-romeo"), ("nurse@example.net", "to-nurse"), (room, "to-room"),
        ] {
            for state in ["acked", "sent", "queued"] { _ = try harness.accept("\(body)-\(state)", to: contact) }
            try harness.receive(
                "<message from='\(contact)/x' type='chat' id='in-\(body)'><body>hello</body>"
                    + "<origin-id xmlns='urn:xmpp:sid:0' id='in-\(body)'/></message>")
        }
        try harness.database.run("UPDATE message SET state = 'acked' WHERE body LIKE '%-acked'")
        try harness.database.run("UPDATE message SET state = 'sent' WHERE body LIKE '%-sent'")
        try harness.database.run(
            "UPDATE notification SET begun = 1, done = 1 WHERE conversation = 'romeo@example.net'")
        _ = try harness.runner.run("application", for: harness.account) { try $0.readArchive(of: try JID(room)) }
        let id = try #require(try harness.questions("room").last)
        try harness.receive(
            """
            <iq type='result' from='\(room)' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <feature var='urn:xmpp:mam:2'/></query></iq>
            """)
        return harness
    }

    /// All rows that belong to other conversations than `own`, as text.
    private func others(_ harness: StepHarness, than own: String) throws -> [String] {
        let messages = try harness.database.prepare(
            """
            SELECT quote(id) || quote(direction) || quote(conversation) || quote(position) || quote(archive) ||
                quote(stanza_id) || quote(message_id) || quote(origin_id) || quote(sender) || quote(recipient) ||
                quote(type) || quote(body) || quote(sent_at) || quote(state) || quote(error) || quote(settled) ||
                quote(catchup)
            FROM message WHERE conversation <> ? ORDER BY id
            """
        ).all([.text(own)]) { $0.text() }
        let notifications = try harness.database.prepare(
            """
            SELECT quote(id) || quote(message) || quote(conversation) || quote(kind) || quote(begun) || quote(done)
            FROM notification WHERE conversation <> ? ORDER BY id
            """
        ).all([.text(own)]) { $0.text() }
        let ranges = try harness.database.prepare(
            "SELECT quote(archive) || quote(last_id) FROM archive_range WHERE archive <> ?"
        )
        .all([.text(own)]) { $0.text() }
        let requests = try harness.database.prepare("SELECT id FROM request WHERE responder <> ? ORDER BY id")
            .all([.text(own)]) { $0.text() }
        let queued = try harness.database.prepare("SELECT CAST(stanza AS TEXT) FROM queue ORDER BY id").all {
            $0.text()
        }
        .filter { !$0.contains("to='\(own)") && !$0.contains("to=\"\(own)") }
        return messages + notifications + ranges + requests + queued
    }

    /// The ids known to a forger: ids on the forger's own wire, or ids told by others.
    private struct Ids {
        let all: [String]

        init(_ harness: StepHarness) throws {
            all =
                try harness.database.prepare("SELECT message_id FROM message UNION SELECT origin_id FROM message")
                .all { $0.optionalText() ?? "" }
                + (try harness.database.prepare("SELECT id FROM request").all { $0.text() }) + ["a1", "a2", "new"]
        }
    }

    private struct Forger {
        var random: Seeded
        let ids: Ids
        let query: String

        mutating func pick<T>(_ values: [T]) -> T { values[Int(random.next() % UInt64(values.count))] }

        mutating func person() -> String {
            pick([
                "juliet@example.org", "juliet@example.org/balcony", "juliet@example.org/phone", "romeo@example.net",
                "romeo@example.net/x", "nurse@example.net/x", "example.org", ForwardingTests.room,
                ForwardingTests.room + "/romeo", ForwardingTests.room + "/juliet", ForwardingTests.mallory,
            ])
        }

        mutating func attributes() -> String {
            var text = ""
            if pick([true, true, true, false]) { text += " from='\(person())'" }
            if pick([true, true, false]) { text += " to='\(person())'" }
            let type = pick(["chat", "groupchat", "error", "normal", "headline", ""])
            if !type.isEmpty { text += " type='\(type)'" }
            return text + " id='\(pick(ids.all))'"
        }

        mutating func content() -> String {
            let id = pick(ids.all)
            return pick([
                "<body>forged</body>", "", "<displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/>",
                "<received xmlns='urn:xmpp:receipts' id='\(id)'/>",
                "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/><body>forged</body>",
                "<stanza-id xmlns='urn:xmpp:sid:0' by='\(person())' id='\(id)'/><body>forged</body>",
                "<error type='cancel'><gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>",
                "<delay xmlns='urn:xmpp:delay' stamp='2030-01-01T00:00:00Z'/><body>forged</body>",
                """
                <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='urn:xmpp:mds:displayed:0'>\
                <item id='romeo@example.net'><displayed xmlns='urn:xmpp:mds:displayed:0'>\
                <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='a2'/></displayed></item></items></event>
                """,
            ])
        }

        mutating func inner(_ depth: Int = 0) -> String {
            let inside = depth < 2 && pick([true, false, false]) ? wrapped(depth + 1) : content() + content()
            return "<message xmlns='jabber:client'\(attributes())>\(inside)</message>"
        }

        mutating func wrapped(_ depth: Int = 0) -> String {
            let forwarded = """
                <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2026-11-21T10:00:00Z'/>\
                \(inner(depth))</forwarded>
                """
            return pick([
                "<result xmlns='urn:xmpp:mam:2' queryid='\(query)' id='\(pick(ids.all))'>\(forwarded)</result>",
                "<sent xmlns='urn:xmpp:carbons:2'>\(forwarded)</sent>",
                "<received xmlns='urn:xmpp:carbons:2'>\(forwarded)</received>", forwarded,
                "<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='urn:xmpp:mds:displayed:0'>"
                    + "<item id='nurse@example.net'>\(forwarded)</item></items></event>",
                content(),
            ])
        }

        /// A stanza as delivered by the server: with the forger's own address.
        mutating func stanza(from sender: String) -> String {
            let type = pick(["", " type='chat'", " type='groupchat'", " type='error'", " type='headline'"])
            switch random.next() % 8 {
            case 0: return "<iq from='\(sender)' id='\(pick(ids.all))' type='result'>\(wrapped())</iq>"
            case 1: return "<presence from='\(sender)' id='\(pick(ids.all))'>\(wrapped())</presence>"
            default: return "<message from='\(sender)' id='\(pick(ids.all))'\(type)>\(wrapped())</message>"
            }
        }
    }

    @Test(
        "a forged wrapper changes no row, state or notification outside the wrapper's own conversation",
        arguments: [mallory, room, room + "/romeo", "romeo@example.net/x", "muc.example.org"])
    func forged(_ sender: String) throws {
        let own = try JID(sender).bare.description
        for seed in 0..<UInt64(RandomInput.rounds(2)) {
            let harness = try Self.harness()
            let query = try #require(try harness.text("SELECT query_id FROM catchup WHERE archive = '\(Self.room)'"))
            var forger = Forger(random: Seeded(RandomInput.seed(seed)), ids: try Ids(harness), query: query)
            var before = try others(harness, than: own)
            for _ in 0..<50 {
                let stanza = forger.stanza(from: sender)
                try harness.receive(stanza)
                let after = try others(harness, than: own)
                guard after != before else { continue }
                Issue.record("seed \(seed): \(stanza)\nchanged \(Set(after).symmetricDifference(Set(before)).sorted())")
                before = after
            }
        }
    }

    @Test("an error in a room's archive does not fail a message to somebody else")
    func error() throws {
        let harness = try Self.harness()
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'to-romeo-sent'"))
        let error = """
            <message type='error' from='romeo@example.net' id='\(id)'><error type='cancel'>\
            <gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        try harness.receive(try harness.result("r1", room: Self.room, xml: error))
        #expect(try harness.text("SELECT state FROM message WHERE origin_id = '\(id)'") == "sent")
    }

    @Test("a contact who writes groupchat with the id of our message does not settle the message")
    func groupchat() throws {
        let harness = try Self.harness()
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'to-romeo-sent'"))
        try harness.receive(
            """
            <message type='groupchat' from='romeo@example.net/x' id='\(id)'><body>to-romeo-sent</body></message>
            """)
        #expect(
            try harness.text("SELECT state || archive FROM message WHERE origin_id = '\(id)' AND direction = 'out'")
                == "sent")
    }
}
