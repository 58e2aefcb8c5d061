import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// "Stanzas that cannot be processed: quarantine, ... replayed after an update", in a step of its own, exactly once.
struct ReplayTests {
    /// A stanza that breaks its step until the trigger is gone, set aside at its third attempt between two others.
    private func poisoned(_ xml: String = CatchUpTests.message("poison")) throws -> Desk {
        let desk = try Desk.caughtUp()
        try desk.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = 'poison'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        try desk.receive(CatchUpTests.message("before"))
        let stanza = QuarantinedStanza(try Element.parse(Desk.inClient(xml)), attempts: 3)
        _ = try desk.steps.quarantine(stanza, count: try desk.steps.load().handled.advanced())
        try desk.receive(CatchUpTests.message("after"))
        return desk
    }

    private func update(_ desk: Desk) throws { try desk.database.execute("DROP TRIGGER poison") }

    @Test("a stanza that can be processed now is processed once, at its original place, and leaves the quarantine")
    func replayed() throws {
        let desk = try poisoned()
        #expect(try Quarantine(desk.database).stanzas().map(\.retrying) == [.possible])
        try update(desk)
        #expect(try Replay.next(of: desk.account, desk.runner) == nil, "nobody has asked for it")
        #expect(try Quarantine(desk.database).retry() == 1)
        #expect(try Replay.next(of: desk.account, desk.runner)?.told == ["message poison"])
        #expect(try Replay.next(of: desk.account, desk.runner) == nil)
        #expect(try desk.history() == ["in before", "in poison", "in after"])
        #expect(try Quarantine(desk.database).stanzas().isEmpty)
        #expect(try Quarantine(desk.database).retry() == 0)
    }

    @Test("a stanza that still fails stays, with the reason, and its changes are undone")
    func fails() throws {
        let desk = try poisoned()
        let handled = try desk.steps.load().handled
        try Quarantine(desk.database).retry()
        #expect(try Replay.next(of: desk.account, desk.runner)?.told == [])
        let stanza = try #require(try Quarantine(desk.database).stanzas().first)
        #expect(stanza.reason.hasPrefix("tried again: ") && stanza.reason.contains("broken"))
        #expect(stanza.retrying == .possible)
        #expect(try desk.history() == ["in before", "in after"])
        #expect(try desk.steps.load().handled == handled, "it is in no count")
    }

    @Test("a stanza that ends the process is not tried again automatically")
    func fatal() throws {
        let desk = try poisoned()
        try Quarantine(desk.database).retry()
        _ = try desk.runner.run("replay", for: desk.account) { _ = try Replay(step: $0).begin() }
        // Another process starts.
        #expect(try Replay.next(of: desk.account, desk.runner) == nil)
        #expect(try Quarantine(desk.database).stanzas().map(\.retrying) == [.interrupted])
        try update(desk)
        #expect(try Quarantine(desk.database).retry() == 1)
        #expect(try Replay.next(of: desk.account, desk.runner)?.told == ["message poison"])
    }

    @Test("a message that came again meanwhile is not stored twice")
    func once() throws {
        let desk = try poisoned(CatchUpTests.live("poison", archive: "a1"))
        try update(desk)
        try desk.receive(CatchUpTests.live("poison", archive: "a1"))
        try Quarantine(desk.database).retry()
        #expect(try Replay.next(of: desk.account, desk.runner)?.told == [])
        #expect(try Quarantine(desk.database).stanzas().isEmpty)
        #expect(try desk.history().count { $0 == "in poison" } == 1)
    }

    @Test(
        "a result of the archive gets its id and its place; a result from somebody else does not count",
        arguments: ["juliet@example.org", "mallory@example.net"])
    func archived(_ from: String) throws {
        let desk = try Desk.reading()
        try desk.show(["a1"])
        let result = try desk.result("a2").replacing(
            "<message from='juliet@example.org'", with: "<message from='\(from)'")
        let stanza = QuarantinedStanza(try Element.parse(Desk.inClient(result)), attempts: 3)
        _ = try desk.steps.quarantine(stanza, count: try desk.steps.load().handled.advanced())
        try desk.show(["a3"])
        for _ in 0..<2 { try desk.answerPage(last: "a3", complete: true) }
        try Quarantine(desk.database).retry()
        _ = try Replay.next(of: desk.account, desk.runner)
        #expect(try desk.history() == (from.hasPrefix("juliet") ? ["in a1", "in a2", "in a3"] : ["in a1", "in a3"]))
    }

    @Test("a truncated stanza cannot be tried again, with the reason, nor can a request")
    func notReplayable() throws {
        let desk = try poisoned("<iq type='get' id='1' from='a@b/c'><ping xmlns='urn:xmpp:ping'/></iq>")
        let long = CatchUpTests.message(String(repeating: "x", count: 70_000))
        let stanza = QuarantinedStanza(try Element.parse(Desk.inClient(long)), attempts: 3)
        _ = try desk.steps.quarantine(stanza, count: nil)
        #expect(try Quarantine(desk.database).stanzas().map(\.retrying) == [.truncated, .outdated])
        #expect(try Quarantine(desk.database).retry() == 0)
        #expect(try Quarantine(desk.database).bytes(of: 2)?.count == 65536)
        #expect(try Quarantine(desk.database).drop(2) == 1)
        #expect(try Quarantine(desk.database).drop() == 1)
    }

    @Test("a stanza that is still over a limit stays, with the reason")
    func overLimit() throws {
        let desk = try Desk.caughtUp()
        let deep =
            "<message>" + String(repeating: "<a>", count: 5000) + String(repeating: "</a>", count: 5000) + "</message>"
        try desk.database.run(
            "INSERT INTO quarantine(account, at, reason, name, size, stanza) VALUES (1, 1, 'x', 'message', ?, ?)",
            [.integer(Int64(deep.utf8.count)), .blob(Array(deep.utf8))])
        try Quarantine(desk.database).retry()
        _ = try Replay.next(of: desk.account, desk.runner)
        #expect(try Quarantine(desk.database).stanzas().first?.reason == "tried again: over the limit on depth")
    }

    @Test("nobody drives: the stanzas are tried without going online")
    func offline() throws {
        let desk = try poisoned()
        try update(desk)
        try Quarantine(desk.database).retry()
        #expect(throws: (any Error).self, "this process drives") { try Engine.replayQuarantine(desk.directory) }
        try desk.fence.letGo(desk.database)
        var told: [String] = []
        try Engine.replayQuarantine(desk.directory) { told += Step.Effects(events: [$0]).told }
        #expect(told == ["message poison"])
        #expect(try desk.history() == ["in before", "in poison", "in after"])
    }
}
