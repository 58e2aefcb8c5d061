import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Issue 4: "matching by id and responder as RFC 6120 8.1.2 and 10 ask (from absent, own bare address, server)". The account
/// is juliet@example.org, its session juliet@example.org/balcony.
struct ResponderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let asked: String?
        let from: String?
        let counts: Bool
        /// The section with the rule.
        let section: String

        init(_ asked: String?, _ from: String?, _ counts: Bool, _ section: String) {
            (self.asked, self.from, self.counts, self.section) = (asked, from, counts, section)
        }

        var testDescription: String {
            "\(asked ?? "nobody named") asked, \(from.map { $0.isEmpty ? "'' " : $0 } ?? "no from"): \(counts) (\(section))"
        }
    }

    /// The account itself is asked, without `to` or by the bare address.
    static let account: [Case] = [nil, "juliet@example.org", "Juliet@EXAMPLE.org"].flatMap { asked in
        [
            Case(asked, nil, true, "RFC 6120 8.1.2.1 rule 4: without from it is the account on the server"),
            Case(asked, "juliet@example.org", true, "8.1.2.1 rule 3: the account's bare address"),
            Case(asked, "JULIET@Example.ORG", true, "RFC 7622 3: addresses are compared as prepared"),
            Case(asked, "juliet@example.org/balcony", true, "RFC 3920 9.1.2: or the client's full address"),
            Case(asked, "example.org", true, "RFC 6120 10.3.3, 10.5.1: the server handles it, and may use its name"),
            Case(asked, "EXAMPLE.org", true, "RFC 7622 3.2: a domain has no case"),
            Case(asked, "juliet@example.org/Balcony", false, "RFC 7622 3.4: a resource has case"),
            Case(asked, "juliet@example.org/garden", false, "8.1.2.1 rule 1: another client of the account"),
            Case(asked, "juliet@example.net", false, "8.1.2.2: a user of another server"),
            Case(asked, "romeo@example.org", false, "8.1.2.1 rule 1: a user of the same server"),
            Case(asked, "romeo@example.org/balcony", false, "8.1.2.1 rule 1: a user of the same server"),
            Case(asked, "example.org/balcony", false, "10.5.2: something behind the server's name is not the server"),
            Case(asked, "juliet.example.org", false, "8.1.2.2: a component below the domain"),
            Case(asked, "example.net", false, "8.1.2.2: another server"),
            Case(asked, "", false, "8.1.2.1: an empty from is no absent one"),
            Case(asked, "@", false, "RFC 7622 3.2: no address"),
        ]
    }

    /// The server is asked for itself.
    static let server: [Case] = ["example.org", "EXAMPLE.ORG"].flatMap { asked in
        [
            Case(asked, "example.org", true, "RFC 6120 8.1.2.1 rule 2: the server's name"),
            Case(asked, "Example.Org", true, "RFC 7622 3.2: a domain has no case"),
            Case(asked, nil, true, "RFC 3920 9.1.2: only the server may leave it out"),
            Case(asked, "juliet@example.org", false, "8.1.2.1 rules 2 and 3: the account is not the server"),
            Case(asked, "juliet@example.org/balcony", false, "8.1.2.1 rule 2"),
            Case(asked, "example.org/admin", false, "8.1.2.1 rule 2"),
            Case(asked, "romeo@example.org", false, "8.1.2.1 rule 1"),
            Case(asked, "conference.example.org", false, "8.1.2.2"),
        ]
    }

    /// Somebody else is asked: only the whole address counts.
    static let others: [Case] = [
        Case("romeo@example.net", "romeo@example.net", true, "RFC 6120 8.1.2, 10.5.3: the user's server, for him"),
        Case("romeo@example.net", "Romeo@Example.net", true, "RFC 7622 3.3"),
        Case("Romeo@EXAMPLE.net", "romeo@example.net", true, "RFC 7622 3.3"),
        Case("romeo@example.net", nil, false, "8.1.2.1 rule 4: that is the own account"),
        Case("romeo@example.net", "", false, "8.1.2.1"),
        Case("romeo@example.net", "romeo@example.net/orchard", false, "10.5.3: the server answers, no client"),
        Case("romeo@example.net", "juliet@example.org", false, "8.1.2: not who was asked"),
        Case("romeo@example.net", "example.net", false, "8.1.2: not who was asked"),
        Case("romeo@example.net", "example.org", false, "8.3.1: also an error on the way bears the address asked"),
        Case("romeo@example.net/a", "romeo@example.net/a", true, "8.1.2, 10.5.4"),
        Case("romeo@example.net/a", "romeo@example.net/b", false, "10.5.4: another client"),
        Case("romeo@example.net/a", "romeo@example.net", false, "10.5.4"),
        Case("romeo@example.net/a", "romeo@example.net/A", false, "RFC 7622 3.4: a resource has case"),
        Case("juliet@example.org/garden", "juliet@example.org/garden", true, "10.5.4: another client of the account"),
        Case("juliet@example.org/garden", "juliet@example.org", false, "10.5.4"),
        Case("juliet@example.org/garden", nil, false, "8.1.2.1 rule 4"),
        Case("juliet@example.org/garden", "juliet@example.org/balcony", false, "10.5.4"),
        Case("juliet@example.org/balcony", "juliet@example.org/balcony", true, "10.5.4: this client itself"),
        Case("juliet@example.org/balcony", "juliet@example.org/garden", false, "10.5.4"),
        Case("conference.example.org", "conference.example.org", true, "8.1.2"),
        Case("conference.example.org", nil, false, "8.1.2.1 rule 4"),
        Case("conference.example.org", "example.org", false, "8.1.2"),
        Case("room@conference.example.org/nick", "room@conference.example.org/nick", true, "10.5.4"),
        Case("room@conference.example.org/nick", "room@conference.example.org", false, "10.5.4"),
    ]

    private func answer(_ id: String, from: String?, type: String = "result") -> String {
        "<iq type='\(type)' id='\(id)'\(from.map { " from='\($0)'" } ?? "")/>"
    }

    @Test("who may answer", arguments: ["result", "error"])
    func responder(_ type: String) throws {
        let harness = try StepHarness.logging()
        for row in Self.account + Self.server + Self.others {
            let id = try harness.ask("one", to: row.asked)
            let (open, lines) = (try #require(try harness.count("request")), try harness.log().count)
            try harness.receive(answer(id, from: row.from, type: type))
            let answered: Int64 = row.counts ? 1 : 0
            #expect(try harness.count("request") == open - answered, "\(row)")
            #expect(try harness.log().count == lines + Int(answered), "\(row)")
        }
    }

    /// "A peer that answers with another's id, twice, or after the deadline changes nothing."
    @Test("a peer that knows the id of another peer's request takes nothing away from the responder")
    func another() throws {
        let harness = try StepHarness.logging()
        let ids = [try harness.ask("romeo", to: "romeo@example.net"), try harness.ask("account")]
        for id in ids {
            for from in ["mallory@example.net/x", "juliet@example.org/other", "example.net"] {
                try harness.receive(answer(id, from: from))
            }
        }
        #expect(try harness.log().isEmpty)
        try harness.receive(answer(ids[1], from: "romeo@example.net"))
        try harness.receive(answer(ids[0], from: "romeo@example.net"))
        try harness.receive(answer(ids[1], from: nil))
        #expect(try harness.log() == ["romeo: result", "account: result"])
    }

    @Test("after a new session only its own full address is this session's")
    func newSession() throws {
        let harness = try StepHarness.logging()
        try harness.database.execute("UPDATE session SET jid = 'juliet@example.org/cellar'")
        let id = try harness.ask("one")
        try harness.receive(answer(id, from: "juliet@example.org/balcony"))
        #expect(try harness.log().isEmpty)
        try harness.receive(answer(id, from: "juliet@example.org/cellar"))
        #expect(try harness.log() == ["one: result"])
    }

    /// RFC 6120 8.2.3: only an IQ of type result or error is an answer.
    @Test("only a result or an error is an answer", arguments: ["get", "set", "chat", "", "RESULT"])
    func type(_ type: String) throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one", to: "romeo@example.net")
        try harness.subscribe()
        try harness.receive(
            "<iq type='\(type)' id='\(id)' from='romeo@example.net'><query xmlns='urn:example:x'/></iq>")
        #expect(try harness.log().isEmpty && harness.count("request") == 1)
    }

    /// RFC 6120 8.1.3: ids are compared unchanged.
    @Test("an unknown id, or no id, is no answer")
    func id() throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one", to: "romeo@example.net")
        for other in [id.uppercased(), id + " ", String(id.dropLast()), ""] {
            try harness.receive(answer(other, from: "romeo@example.net"))
        }
        try harness.receive("<iq type='result' from='romeo@example.net'/>")
        #expect(try harness.log().isEmpty && harness.count("request") == 1)
    }
}
