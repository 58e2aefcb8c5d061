import Foundation
import KalijStore
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A result of an archive that cannot be handled: it throws, or ends its process.
@Suite struct FailedResultTests {
    private func result(_ id: String, _ from: String = "") throws -> Element {
        try Element.parse(
            "<message xmlns='jabber:client' \(from)><result xmlns='urn:xmpp:mam:2' id='\(id)'/></message>")
    }

    @Test("a result has one name, whatever query brings it; another archive's with the same id has another")
    func names() throws {
        let harness = try StepHarness()
        func name(_ stanza: Element) -> String? { ArchiveResult.name(of: stanza, to: harness.account.jid) }
        let own = try #require(name(try result("1")))
        #expect(try name(result("1", "from='\(harness.account.jid)'")) == own)
        #expect(try name(result("2")) != own && name(result("1", "from='room@example.org'")) != own)
        #expect(name(Element("message", xmlns: "jabber:client")) == nil)
        let live = try Element.parse(
            """
            <message xmlns='jabber:client' from='romeo@example.net/x'><body>x</body>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='romeo@example.net' id='2'/>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='\(harness.account.jid)' id='1'/></message>
            """)
        #expect(ArchiveResult.name(stamped: live, to: harness.account.jid) == own)
        let said = try Element.parse(
            """
            <message xmlns='jabber:client' from='room@example.org/romeo' type='groupchat'><body>x</body>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='room@example.org' id='1'/></message>
            """)
        #expect(
            try ArchiveResult.name(stamped: said, to: harness.account.jid)
                == name(result("1", "from='room@example.org'"))
        )
        // The mark has lines and words.
        #expect(try name(result("&#10; \(String(repeating: "x", count: 10_000))"))?.utf8.count == own.utf8.count)
    }

    @Test("a process that ended in a result's turn is counted by the next; at the third the result is used up")
    func counted() throws {
        let harness = try StepHarness()
        let scratch = try ScratchDirectory()
        let name = try #require(ArchiveResult.name(of: result("1"), to: harness.account.jid))
        let failed = FailedResults(database: harness.database, account: harness.account.id)
        for crash in 1...3 {
            let past = PoisonStanzaGuard(isCareful: true, failedResults: try failed.all())
            #expect(!past.isUsedUp(name))
            let mark = CrashMarker(path: scratch.file("m"), fence: Int64(crash))
            mark.set(CrashMarker.Row(account: harness.account.id, origin: .result, id: name))
            try CrashMarker(path: scratch.file("m"), fence: Int64(crash) + 1).countCrash(in: harness.database)
        }
        var redelivery = PoisonStanzaGuard(isCareful: false, failedResults: try failed.all())
        #expect(redelivery.isUsedUp(name) && redelivery.hasFailed(name) && !redelivery.hasFailed("other"))
        redelivery.handled(name)
        #expect(!redelivery.hasFailedResults)
        try failed.handled(name)
        #expect(try failed.all().isEmpty)
        // An account that is gone meanwhile.
        CrashMarker(path: scratch.file("m"), fence: 7).set(CrashMarker.Row(account: 99, origin: .result, id: name))
        try CrashMarker(path: scratch.file("m"), fence: 8).countCrash(in: harness.database)
        #expect(try harness.count("failed_result") == 0)
    }

    @Test("the mark of a result names it, whatever its id and its archive")
    func marked() throws {
        let scratch = try ScratchDirectory()
        let (first, second) = (
            CrashMarker(path: scratch.file("m"), fence: 7), CrashMarker(path: scratch.file("m"), fence: 8)
        )
        let room = Archive(key: "room@example.org")
        for id in ["1", " 2  x ", "\n", "a\n7 1 result x", String(repeating: "x", count: 5000), "ü", "short"] {
            for (archive, account) in [(Archive.own, Int64(1)), (room, 1), (room, 2), (.own, 2)] {
                first.set(resultCalled: id, of: archive, account: account)
                let name = try #require(archive.name(of: id))
                #expect(second.left() == CrashMarker.Row(account: account, origin: .result, id: name))
            }
        }
        first.clear()
        #expect(second.left() == nil)
    }

    @Test("the names kept are bounded; the oldest goes first")
    func bounded() throws {
        let harness = try StepHarness()
        let failed = FailedResults(database: harness.database, account: harness.account.id)
        for number in 0..<150 { _ = try failed.failed("\(number)") }
        let kept = try failed.all()
        #expect(kept.count == 100 && kept["149"] == 1 && kept["0"] == nil)
        #expect(try failed.failed("149") == 2)
    }
}
