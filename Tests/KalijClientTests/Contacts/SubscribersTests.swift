import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An answer shows the asker that this client is online: only contacts that may know get an answer (RFC 6121 sections 3
/// and 11; XEP-0199 section 6).
struct SubscribersTests {
    private static let ping = "<ping xmlns='urn:xmpp:ping'/>"
    private static let refusal =
        "<error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"

    private func ask(_ harness: StepHarness, _ from: String, _ payload: String = ping, id: String = "q") throws {
        try harness.receive("<iq type='get' from='\(from)' to='juliet@example.org/balcony' id='\(id)'>\(payload)</iq>")
    }

    /// The types of the answers queued for `recipient`.
    private func answers(_ harness: StepHarness, to recipient: String) throws -> [String] {
        try OutboundQueue(database: harness.database, account: harness.account.id).entries(after: 0, limit: 1000)
            .compactMap {
                let stanza = try Element.parse(StepHarness.inClient(String(decoding: $0.stanza, as: UTF8.self)))
                return stanza["to"] == recipient ? stanza["type"] : nil
            }
    }

    @Test(
        "a contact who may see our presence is answered; others are refused as by the server of an offline contact",
        arguments: ["both", "from", "to", "none"], [ping, "<query xmlns='http://jabber.org/protocol/disco#info'/>"])
    func subscription(_ subscription: String, _ payload: String) throws {
        let harness = try StepHarness.askingRoster()
        try ask(harness, "romeo@example.net/orchard", payload)
        #expect(try answers(harness, to: "romeo@example.net/orchard").isEmpty, "the roster is not known yet")
        try harness.answerRoster("<item jid='romeo@example.net' subscription='\(subscription)'/>")
        let isAnswered = ["both", "from"].contains(subscription)
        #expect(try answers(harness, to: "romeo@example.net/orchard") == [isAnswered ? "result" : "error"])
        try ask(harness, "mallory@example.net/x", payload)
        try ask(harness, "mallory@example.net/x", "<query xmlns='http://jabber.org/protocol/disco#info' node='none'/>")
        #expect(try answers(harness, to: "mallory@example.net/x") == ["error", "error"])
        let refused = try harness.database.prepare(
            "SELECT count(*) FROM queue WHERE CAST(stanza AS TEXT) LIKE '%mallory%service-unavailable%'"
        ).first { $0.integer() }
        #expect(refused == 2)
        #expect(
            try harness.number("SELECT count(*) FROM request WHERE name = 'contacts.roster'") == 0,
            "asked once in a session")
    }

    @Test("the account's own clients and its server are answered before the roster is known")
    func ourselves() throws {
        let harness = try StepHarness.askingRoster()
        for sender in ["juliet@example.org/phone", "juliet@example.org", "example.org"] {
            try ask(harness, sender)
            #expect(try answers(harness, to: sender) == ["result"])
        }
        #expect(try SessionRow.roster(of: harness.account.id, in: harness.database) == .unknown)
    }

    @Test("a flood of requests while the roster is awaited makes one question and a bounded number of rows")
    func flood() throws {
        let harness = try StepHarness.askingRoster()
        for number in 0..<100 { try ask(harness, "mallory@example.net/x", id: "q\(number)") }
        try ask(harness, "mallory@example.net/y", "<x xmlns='urn:x'>" + String(repeating: "x", count: 20_000) + "</x>")
        #expect(try harness.waiting("contacts.roster").count == 1)
        #expect(try harness.number("SELECT count(*) FROM asker") == 20)
        #expect(try answers(harness, to: "mallory@example.net/x").count == 80)
        try harness.answerRoster("")
        #expect(try answers(harness, to: "mallory@example.net/x").count == 100)
        #expect(try harness.number("SELECT count(*) FROM asker") == 0)
    }

    @Test(
        "a roster that is refused or does not come: possible contacts get no answer",
        arguments: [true, false])
    func noRoster(_ isRefused: Bool) throws {
        let harness = try StepHarness.askingRoster()
        try ask(harness, "romeo@example.net/orchard")
        if isRefused {
            try harness.receive("<iq type='error' id='\(try harness.open("contacts.roster"))'>\(Self.refusal)</iq>")
        } else {
            for _ in 1...3 { try harness.letExpire() }
        }
        #expect(try answers(harness, to: "romeo@example.net/orchard") == ["error"])
        try ask(harness, "romeo@example.net/orchard", id: "again")
        #expect(try answers(harness, to: "romeo@example.net/orchard") == ["error", "error"])
    }

    @Test("a contact that was removed while we were away is not answered, before or after the roster comes")
    func outOfDate() throws {
        let harness = try StepHarness.withRoster("<item jid='romeo@example.net' subscription='both'/>")
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        try ask(harness, "romeo@example.net/orchard")
        #expect(try answers(harness, to: "romeo@example.net/orchard").isEmpty)
        try harness.answerRoster("")
        #expect(try answers(harness, to: "romeo@example.net/orchard") == ["error"])
    }
}
