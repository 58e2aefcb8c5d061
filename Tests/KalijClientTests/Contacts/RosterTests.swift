import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// RFC 6121 section 2.
struct RosterTests {
    private static let romeo =
        "<item jid='romeo@example.net' subscription='both' name='Romeo'><group>Friends</group></item>"
    private static let nurse = "<item jid='nurse@example.org' subscription='to'/>"

    private func query(_ harness: StepHarness) throws -> Element {
        try #require(try harness.request(try harness.open("contacts.roster")).child("query", "jabber:iq:roster"))
    }

    @Test(
        "2.6.2: the first question has an empty version, the next session's question the stored one; a resume asks nothing"
    )
    func asked() throws {
        let harness = try StepHarness.askingRoster()
        #expect(try query(harness)["ver"] == "")
        try harness.answerRoster(Self.romeo, version: "v7")
        try harness.acknowledgeAll()
        _ = try harness.resumeElsewhere()
        #expect(try harness.waiting("contacts.roster").isEmpty)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        #expect(try query(harness)["ver"] == "v7")
    }

    @Test("2.6.1: a server without versions is asked without a version, and told versions do not matter")
    func withoutVersions() throws {
        let harness = try StepHarness.askingRoster(offering: "")
        #expect(try query(harness)["ver"] == nil)
        try harness.answerRoster(Self.romeo, version: nil)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        #expect(try query(harness)["ver"] == nil)
        #expect(try harness.answerRoster(Self.romeo, version: nil).told(ContactChanged.self).isEmpty)
    }

    @Test("2.6.3: an answer without content means that nothing has changed")
    func unchanged() throws {
        let harness = try StepHarness.withRoster(Self.romeo)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        let effects = try harness.fulfil("contacts.roster")
        #expect(effects.told(ContactChanged.self).isEmpty)
        #expect(try harness.contacts() == ["romeo@example.net both"])
        try harness.bind(resumeID: "session-3", answered: .all(but: .roster))
        #expect(try query(harness)["ver"] == "v1")
    }

    @Test("a whole roster replaces the rows, and only differences are told")
    func replaced() throws {
        let harness = try StepHarness.withRoster(Self.romeo + Self.nurse)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        let changed = "<item jid='nurse@example.org' subscription='both'/><item jid='tybalt@example.com'/>"
        let effects = try harness.answerRoster(Self.romeo + changed, version: "v9")
        #expect(
            effects.told(ContactChanged.self) == [
                "contact: contact nurse@example.org both", "contact: contact tybalt@example.com none",
            ])
        try harness.bind(resumeID: "session-3", answered: .all(but: .roster))
        #expect(
            try harness.answerRoster(changed, version: "v10").told(ContactChanged.self) == [
                "contact: contact romeo@example.net removed"
            ])
        #expect(try harness.contacts() == ["nurse@example.org both", "tybalt@example.com none"])
    }

    @Test("case 21: a push between the question and its answer counts, a forged push does not")
    func pushBetween() throws {
        let harness = try StepHarness.withRoster(Self.romeo)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        let effects = try harness.push(Self.nurse, version: "v2")
        #expect(effects.told(ContactChanged.self) == ["contact: contact nurse@example.org to"])
        let before = try harness.contacts()
        for sender in [
            "mallory@example.net", "mallory@example.net/x", "romeo@example.net", "romeo@example.net/orchard",
            "example.org",
            "juliet@example.org/phone", "example.net",
        ] {
            let effects = try harness.push("<item jid='mallory@example.net' subscription='both'/>", from: sender)
            #expect(effects.told(ContactChanged.self).isEmpty, "\(sender)")
        }
        #expect(try harness.contacts() == before)
        try harness.fulfil("contacts.roster")
        #expect(try harness.contacts() == ["nurse@example.org to", "romeo@example.net both"])
        try harness.bind(resumeID: "session-3", answered: .all(but: .roster))
        #expect(try query(harness)["ver"] == "v2")
    }

    @Test("2.1.6: a push without a sender or from our bare address changes, removes, and is answered")
    func pushes() throws {
        let harness = try StepHarness.withRoster(Self.romeo)
        try harness.acknowledgeAll()
        for sender in [nil, "juliet@example.org"] {
            try harness.push(Self.nurse, from: sender)
            #expect(try harness.contacts() == ["nurse@example.org to", "romeo@example.net both"])
            let effects = try harness.push("<item jid='nurse@example.org' subscription='remove'/>", from: sender)
            #expect(effects.told(ContactChanged.self) == ["contact: contact nurse@example.org removed"])
            #expect(try harness.contacts() == ["romeo@example.net both"])
        }
        #expect(try harness.queue() == Array(repeating: "iq result", count: 4))
    }

    @Test("case 22: 5,000 contacts arrive as one stanza; a step that fails leaves the old ones")
    func large() throws {
        let harness = try StepHarness.withRoster(Self.romeo)
        try harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        let items = (0..<5000).map {
            "<item jid='contact-\($0)@example.net' subscription='both' name='Contact \($0)'><group>Friends</group></item>"
        }.joined()
        try harness.database.execute(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON contact WHEN NEW.jid = 'contact-4000@example.net' BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        #expect(throws: (any Error).self) { try harness.answerRoster(items, version: "v2") }
        #expect(try harness.contacts() == ["romeo@example.net both"])
        #expect(try harness.text("SELECT version FROM roster") == "v1")
        try harness.database.execute("DROP TRIGGER full")
        let effects = try harness.answerRoster(items, version: "v2")
        #expect(effects.told(ContactChanged.self).count == 5001)
        #expect(try harness.contacts().count == 5000)
    }

    @Test("a question that is not answered is asked again, in the end the roster is given up")
    func unanswered() throws {
        let harness = try StepHarness.askingRoster()
        for attempt in 1...3 {
            #expect(try SessionRow.roster(of: harness.account.id, in: harness.database) == .unknown, "\(attempt)")
            try harness.acknowledgeAll()
            _ = try harness.open("contacts.roster")
            try harness.letExpire()
        }
        #expect(try SessionRow.roster(of: harness.account.id, in: harness.database) == .unavailable)
    }

    @Test("a database of the version before: the session goes on, and the roster is asked for")
    func upgraded() throws {
        let harness = try StepHarness.online()
        try SessionRow.set(roster: .unknown, of: harness.account.id, in: harness.database)
        try harness.acknowledgeAll()
        _ = try harness.resumeElsewhere()
        #expect(try harness.waiting("contacts.roster").count == 1)
    }
}

/// RFC 6121 section 4.
struct ContactPresenceTests {
    private static let roster = "<item jid='romeo@example.net' subscription='both'/>"

    private func come(
        _ harness: StepHarness, _ from: String, _ content: String = "", type: String? = nil
    ) throws -> [String] {
        let type = type.map { " type='\($0)'" } ?? ""
        return try harness.receive("<presence from='\(from)'\(type)>\(content)</presence>").told(PresenceChanged.self)
    }

    private func clients(_ harness: StepHarness, of contact: String = "romeo@example.net") throws -> [String] {
        try Contacts(harness.database).presence(of: .received(contact), for: harness.account).map { "\($0.line)" }
    }

    @Test("a contact's clients come, change and go; the same presence twice is one event")
    func comes() throws {
        let harness = try StepHarness.withRoster(Self.roster)
        let away = "<show>away</show><status>in the garden</status><priority>-5</priority>"
        #expect(try come(harness, "romeo@example.net/a") == ["presence: romeo@example.net/a is online"])
        #expect(
            try come(harness, "romeo@example.net/a", away) == ["presence: romeo@example.net/a is away: in the garden"])
        #expect(try come(harness, "romeo@example.net/a", away).isEmpty)
        _ = try come(harness, "romeo@example.net/b", "<show>nonsense</show><priority>1000</priority>")
        #expect(
            try clients(harness) == ["romeo@example.net/b is online", "romeo@example.net/a is away: in the garden"])
        #expect(
            try come(harness, "romeo@example.net/b", type: "unavailable") == [
                "presence: romeo@example.net/b is offline"
            ])
        #expect(try come(harness, "romeo@example.net/b", type: "unavailable").isEmpty)
        _ = try come(harness, "romeo@example.net/b")
        #expect(try come(harness, "romeo@example.net", type: "unavailable").count == 2)
        #expect(try clients(harness).isEmpty)
    }

    @Test("case 24: presence outlives the process and the resume; after a bind nobody is shown who has gone")
    func sessions() throws {
        let harness = try StepHarness.withRoster(Self.roster)
        _ = try come(harness, "romeo@example.net/a")
        _ = try harness.resumeElsewhere()
        #expect(try clients(harness) == ["romeo@example.net/a is online"])
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try clients(harness).isEmpty)
    }

    @Test("presence of strangers, of our own session, and without an address is ignored; other clients of ours are not")
    func strangers() throws {
        let harness = try StepHarness.withRoster(Self.roster)
        for from in [
            "mallory@example.net/x", "juliet@example.org/balcony", "romeo@example.org/orchard", "@", "example.net",
        ] {
            #expect(try come(harness, from).isEmpty, "\(from)")
        }
        #expect(try harness.number("SELECT count(*) FROM presence") == 0)
        #expect(try come(harness, "juliet@example.org/phone") == ["presence: juliet@example.org/phone is online"])
    }

    @Test("a contact with a thousand clients has fifty rows; the words are bounded; a removed contact has none")
    func bounded() throws {
        let harness = try StepHarness.withRoster(Self.roster)
        for number in 0..<1000 {
            _ = try come(
                harness, "romeo@example.net/\(number)", "<status>\(String(repeating: "x", count: 5000))</status>")
        }
        #expect(try harness.number("SELECT count(*) FROM presence") == 50)
        #expect(try harness.number("SELECT max(length(status)) FROM presence") == 1000)
        #expect(try clients(harness).contains { $0.hasPrefix("romeo@example.net/999 ") })
        try harness.push("<item jid='romeo@example.net' subscription='remove'/>")
        #expect(try harness.number("SELECT count(*) FROM presence") == 0)
    }
}
