import Foundation
import KalijAddress
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0115 section 5.4, 6.2 and 8.4, XEP-0390 section 5.2: entity capabilities are learned from the hashes in
/// presence.
struct AnnouncementTests {
    private static let muc = "http://jabber.org/protocol/muc"

    @Test("one question for a hash, however many entities announce it; the answer counts for all of them")
    func oneQuestion() throws {
        let harness = try StepHarness.caughtUp()
        let contacts = (1...50).map { "friend\($0)@example.net/x" }
        for contact in contacts { try harness.meet(Software.presence(contact)) }
        #expect(try harness.askedAboutHashes() == ["friend1@example.net/x"])
        let question = try harness.request(try harness.waiting("discovery.capabilities")[0])
        #expect(
            question.child("query", DiscoveryInfo.namespace)?["node"]
                == "http://code.google.com/p/exodus#" + Software.exodusHash, "section 6.2")
        #expect(try harness.knows(contacts[7], Self.muc) == nil)
        try harness.answer("friend1@example.net/x", Software.exodus)
        for contact in contacts { #expect(try harness.knows(contact, Self.muc) == true) }
        #expect(try harness.knows(contacts[7], "urn:xmpp:ping") == false)
        #expect(try harness.supporting(Self.muc).count == 50)
        #expect(try harness.supporting(Self.muc, of: "friend1@example.net") == ["friend1@example.net/x"])
        #expect(try harness.count("capability") == 1)
    }

    @Test("a known hash needs no question, not in the next session either, nor in another account")
    func shared() throws {
        let harness = try StepHarness.caughtUp()
        try harness.meet(Software.presence("romeo@example.net/a"))
        try harness.answer("romeo@example.net/a", Software.exodus)
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.knows("romeo@example.net/a", Self.muc) == nil, "nobody is there yet")
        try harness.meet(Software.presence("romeo@example.net/b"))
        #expect(try harness.askedAboutHashes().isEmpty && harness.knows("romeo@example.net/b", Self.muc) == true)

        try AccountTable(harness.database).store(
            jid: try JID("nurse@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "x"), resource: "r",
            clock: harness.clock.clock)
        let nurse = try AccountTable(harness.database).account(try JID("nurse@example.org"), in: harness.directory)
        let steps = SessionSteps(runner: harness.runner, account: nurse)
        _ = try steps.handle(
            try Element.parse(StepHarness.inClient(Software.presence("romeo@example.net/b"))), count: nil)
        #expect(try harness.askedAboutHashes().isEmpty)
    }

    @Test("XEP-0390: the structured hash is asked for and verified, with the example of its section 4.5.1")
    func structured() throws {
        let harness = try StepHarness.caughtUp()
        try harness.meet(Software.presence2("romeo@example.net/phone"))
        let question = try harness.request(try harness.waiting("discovery.capabilities")[0])
        #expect(
            question.child("query", DiscoveryInfo.namespace)?["node"]
                == "urn:xmpp:caps#sha-256." + Software.bombusHash)
        try harness.answer("romeo@example.net/phone", Software.bombus)
        #expect(try harness.knows("romeo@example.net/phone", "urn:xmpp:receipts") == true)
        #expect(try harness.count("capability") == 1)
    }

    @Test("identities are hashed with or without the language of the stanza around them: the hash decides")
    func language() throws {
        let exodusInGerman = try #require(
            DiscoveryInfo(
                Element.parse("<query xmlns='http://jabber.org/protocol/disco#info'>\(Software.exodus)</query>"),
                language: "de"))
        let german = try #require(
            CapabilityHash(of: exodusInGerman, format: .software(node: "n"), algorithm: "sha-1")?.value)
        for (hash, language) in [(Software.exodusHash, nil), (german, "de")] as [(String, String?)] {
            let harness = try StepHarness.caughtUp()
            try harness.meet(Software.presence("romeo@example.net/x", ver: hash))
            try harness.answer("romeo@example.net/x", Software.exodus, language: "de")
            let info = try #require(try harness.perform { try $0.discovery.info(of: .received("romeo@example.net/x")) })
            #expect(info.identities.map(\.language) == [language])
            #expect(try harness.count("capability") == 1)
        }
    }

    @Test("a lie counts for the liar alone, and another entity with the same hash is asked")
    func liar() throws {
        let harness = try StepHarness.caughtUp()
        try harness.meet(Software.presence("liar@example.net/x"))
        try harness.meet(Software.presence("romeo@example.net/x"))
        try harness.answer("liar@example.net/x", Software.exodus + "<feature var='urn:forged'/>")
        #expect(try harness.count("capability") == 0, "5.4: MUST NOT globally cache")
        #expect(try harness.knows("liar@example.net/x", "urn:forged") == true)
        #expect(try harness.knows("romeo@example.net/x", "urn:forged") == nil)
        #expect(try harness.askedAboutHashes() == ["romeo@example.net/x"])
        try harness.answer("romeo@example.net/x", Software.exodus)
        #expect(try harness.knows("romeo@example.net/x", Self.muc) == true)
        try harness.meet(Software.presence("liar@example.net/x"))
        #expect(try harness.askedAboutHashes().isEmpty)
    }

    @Test("an ill-formed answer is not cached (section 5.4), nor one over 16 KiB")
    func illFormed() throws {
        for answer in [
            Software.exodus + "<feature var='http://jabber.org/protocol/muc'/>",
            Software.exodus + "<identity category='client' type='pc' name='\(String(repeating: "x", count: 20_000))'/>",
        ] {
            let harness = try StepHarness.caughtUp()
            try harness.meet(Software.presence("romeo@example.net/x"))
            try harness.answer("romeo@example.net/x", answer)
            #expect(try harness.count("capability") == 0)
            #expect(
                try harness.number("SELECT coalesce(max(length(info)), 0) FROM entity") ?? 0
                    <= EntityCapabilities.maxSize)
        }
    }

    @Test("after three useless answers, nobody is asked about the hash any more")
    func limit() throws {
        let harness = try StepHarness.caughtUp()
        for number in 1...10 { try harness.meet(Software.presence("friend\(number)@example.net/x")) }
        for _ in 1...3 { try harness.answer(try #require(try harness.askedAboutHashes().first), nil) }
        #expect(try harness.askedAboutHashes().isEmpty)
        try harness.meet(Software.presence("friend11@example.net/x"))
        #expect(try harness.askedAboutHashes().isEmpty)
        #expect(try harness.count("capability") == 0)
    }

    @Test("an unanswered question goes to another entity, and survives the process")
    func timeout() throws {
        let harness = try StepHarness.caughtUp()
        for name in ["a", "b"] { try harness.meet(Software.presence("\(name)@example.net/x")) }
        #expect(try harness.askedAboutHashes() == ["a@example.net/x"])
        try harness.write()
        harness.clock.move(by: 61_000)
        let other = try harness.inAnotherProcess([])
        while try other.expire(.all, until: harness.clock.now) != nil {}
        #expect(try harness.askedAboutHashes().last == "b@example.net/x")
    }

    @Test("a hash by an unknown function cannot be verified: the answer holds for that entity alone")
    func unknownFunction() throws {
        let harness = try StepHarness.caughtUp()
        for name in ["a", "b"] { try harness.meet(Software.presence("\(name)@example.net/x", hash: "sha-999")) }
        #expect(try harness.askedAboutHashes() == ["a@example.net/x", "b@example.net/x"])
        try harness.answer("a@example.net/x", Software.exodus)
        #expect(try harness.knows("a@example.net/x", Self.muc) == true)
        #expect(try harness.knows("b@example.net/x", Self.muc) == nil)
        #expect(try harness.count("capability") == 0)
    }

    @Test("a new hash causes a new question; without a hash nothing changes; an unavailable entity is forgotten")
    func changes() throws {
        let harness = try StepHarness.caughtUp()
        try harness.meet(Software.presence("romeo@example.net/x"))
        try harness.answer("romeo@example.net/x", Software.exodus)
        try harness.receive("<presence from='romeo@example.net/x'><show>away</show></presence>")
        #expect(try harness.knows("romeo@example.net/x", Self.muc) == true)
        try harness.meet(Software.presence2("romeo@example.net/x"))
        #expect(try harness.knows("romeo@example.net/x", Self.muc) == nil, "MUST NOT use hashes of an earlier set")
        #expect(try harness.askedAboutHashes() == ["romeo@example.net/x"])
        try harness.receive("<presence from='romeo@example.net/x' type='unavailable'/>")
        #expect(try harness.count("entity") == 0)
        try harness.answer("romeo@example.net/x", Software.bombus)
        #expect(try harness.count("capability") == 2, "what it stands for is known, whoever is there")
    }

    @Test("our own software's hash needs no question; our own presence is ignored")
    func ourselves() throws {
        let harness = try StepHarness.caughtUp()
        let own = Features.passive.capabilities.elements.map { $0.xml() }.joined()
        try harness.receive("<presence from='juliet@example.org/balcony'>\(own)</presence>")
        #expect(try harness.count("entity") == 0)
        try harness.receive("<presence from='romeo@example.net/kalij'>\(own)</presence>")
        #expect(
            try harness.askedAboutHashes().isEmpty && harness.knows("romeo@example.net/kalij", "urn:xmpp:ping") == true)
    }

    @Test(
        "RFC 6121 section 11: a question would show our presence to a stranger, so strangers are not asked; our clients are"
    )
    func strangers() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(Software.presence("stranger@example.com/x"))
        #expect(try harness.askedAboutHashes().isEmpty)
        #expect(try harness.count("entity") == 0)
        try harness.receive(Software.presence("juliet@example.org/phone"))
        #expect(try harness.askedAboutHashes() == ["juliet@example.org/phone"])
        try harness.answer("juliet@example.org/phone", Software.exodus)
        try harness.receive(Software.presence("stranger@example.com/x"))
        #expect(
            try harness.knows("stranger@example.com/x", Self.muc) == true, "what is known by its hash needs no question"
        )
    }

    @Test("at most 20 questions are open; the others follow the answers")
    func open() throws {
        let harness = try StepHarness.caughtUp()
        for number in 1...30 {
            let ver = String(format: "%026d=", number)
            try harness.meet(Software.presence("spam@example.net/\(number)", ver: ver))
        }
        #expect(try harness.askedAboutHashes().count == 20)
        for _ in 1...30 { try harness.answer(try #require(try harness.askedAboutHashes().first), nil) }
        #expect(try harness.askedAboutHashes().isEmpty)
        #expect(try harness.number("SELECT count(*) FROM entity WHERE state = 3") == 30)
    }

    @Test("the cache holds a thousand hashes; the least recently seen hash is removed")
    func bounded() throws {
        let harness = try StepHarness.caughtUp()
        try harness.perform { step in
            for number in 0..<1100 {
                let cache = EntityCapabilities(database: step.database, now: step.now + Int64(number))
                try cache.store(
                    Array("<query xmlns='http://jabber.org/protocol/disco#info'/>".utf8), as: "caps \(number)")
                if number == 900 { try cache.used("caps 0", before: 0) }
            }
        }
        #expect(try harness.count("capability") == 1000)
        #expect(try harness.number("SELECT count(*) FROM capability WHERE hash = 'caps 0'") == 1)
        #expect(try harness.number("SELECT count(*) FROM capability WHERE hash = 'caps 1'") == 0)
    }

    @Test("a presence whose hash is known writes nothing but the counter")
    func cheap() throws {
        let harness = try StepHarness.caughtUp()
        try harness.meet(Software.presence("romeo@example.net/x"))
        try harness.answer("romeo@example.net/x", Software.exodus)
        let changes = try harness.number("SELECT total_changes()") ?? 0
        try harness.meet(Software.presence("romeo@example.net/x"))
        #expect(try harness.number("SELECT total_changes()") == changes + 1)
    }
}
