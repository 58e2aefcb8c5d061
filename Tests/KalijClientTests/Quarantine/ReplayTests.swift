import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Stanzas that cannot be processed: quarantine, ... replayed after an update", in a step of its own, exactly once.
struct ReplayTests {
    /// A stanza that breaks its step until the trigger is gone, set aside at its third attempt between two others.
    private func poisoned(_ xml: String = ArchiveSyncTests.message("poison")) throws -> StepHarness {
        let harness = try StepHarness.caughtUp()
        try harness.database.execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.body = 'poison'
            BEGIN SELECT RAISE(ABORT, 'broken'); END
            """)
        try harness.receive(ArchiveSyncTests.message("before"))
        let stanza = QuarantinedStanza(try Element.parse(StepHarness.inClient(xml)), attempts: 3)
        _ = try harness.steps.quarantine(stanza, count: try harness.steps.load().handled.advanced())
        try harness.receive(ArchiveSyncTests.message("after"))
        return harness
    }

    private func update(_ harness: StepHarness) throws { try harness.database.execute("DROP TRIGGER poison") }

    @Test("a stanza that can be processed now is processed once, at its original place, and leaves the quarantine")
    func replayed() throws {
        let harness = try poisoned()
        #expect(try Quarantine(harness.database).stanzas().map(\.retrying) == [.possible])
        try update(harness)
        #expect(try Replay.next(of: harness.account, harness.runner) == nil, "nobody has asked for it")
        #expect(try Quarantine(harness.database).retry() == 1)
        #expect(try Replay.next(of: harness.account, harness.runner)?.told == ["message poison"])
        #expect(try Replay.next(of: harness.account, harness.runner) == nil)
        #expect(try harness.history() == ["in before", "in poison", "in after"])
        #expect(try Quarantine(harness.database).stanzas().isEmpty)
        #expect(try Quarantine(harness.database).retry() == 0)
    }

    @Test("a stanza that still fails stays, with the reason, and its changes are undone")
    func fails() throws {
        let harness = try poisoned()
        let handled = try harness.steps.load().handled
        try Quarantine(harness.database).retry()
        #expect(try Replay.next(of: harness.account, harness.runner)?.told == [])
        let stanza = try #require(try Quarantine(harness.database).stanzas().first)
        #expect(stanza.reason.hasPrefix("tried again: ") && stanza.reason.contains("broken"))
        #expect(stanza.retrying == .possible)
        #expect(try harness.history() == ["in before", "in after"])
        #expect(try harness.steps.load().handled == handled, "it is in no count")
    }

    @Test("a stanza that ends the process is not tried again automatically")
    func fatal() throws {
        let harness = try poisoned()
        try Quarantine(harness.database).retry()
        _ = try harness.runner.run("replay", for: harness.account) { _ = try Replay(step: $0).begin() }
        // Another process starts.
        #expect(try Replay.next(of: harness.account, harness.runner) == nil)
        #expect(try Quarantine(harness.database).stanzas().map(\.retrying) == [.interrupted])
        try update(harness)
        #expect(try Quarantine(harness.database).retry() == 1)
        #expect(try Replay.next(of: harness.account, harness.runner)?.told == ["message poison"])
    }

    @Test("a message that came again meanwhile is not stored twice")
    func once() throws {
        let harness = try poisoned(ArchiveSyncTests.live("poison", archive: "a1"))
        try update(harness)
        try harness.receive(ArchiveSyncTests.live("poison", archive: "a1"))
        try Quarantine(harness.database).retry()
        #expect(try Replay.next(of: harness.account, harness.runner)?.told == [])
        #expect(try Quarantine(harness.database).stanzas().isEmpty)
        #expect(try harness.history().count { $0 == "in poison" } == 1)
    }

    @Test(
        "a result of the archive gets its id and its place; a result from somebody else does not count",
        arguments: ["juliet@example.org", "mallory@example.net"])
    func archived(_ from: String) throws {
        let harness = try StepHarness.reading()
        try harness.show(["a1"])
        let result = try harness.result("a2").replacing(
            "<message from='juliet@example.org'", with: "<message from='\(from)'")
        let stanza = QuarantinedStanza(try Element.parse(StepHarness.inClient(result)), attempts: 3)
        _ = try harness.steps.quarantine(stanza, count: try harness.steps.load().handled.advanced())
        try harness.show(["a3"])
        for _ in 0..<2 { try harness.answerPage(last: "a3", complete: true) }
        try Quarantine(harness.database).retry()
        _ = try Replay.next(of: harness.account, harness.runner)
        #expect(
            try harness.history() == (from.hasPrefix("juliet") ? ["in a1", "in a2", "in a3"] : ["in a1", "in a3"]))
    }

    @Test("a truncated stanza cannot be tried again, with the reason, nor can a request")
    func notReplayable() throws {
        let harness = try poisoned("<iq type='get' id='1' from='a@b/c'><ping xmlns='urn:xmpp:ping'/></iq>")
        let long = ArchiveSyncTests.message(String(repeating: "x", count: 70_000))
        let stanza = QuarantinedStanza(try Element.parse(StepHarness.inClient(long)), attempts: 3)
        _ = try harness.steps.quarantine(stanza, count: nil)
        #expect(try Quarantine(harness.database).stanzas().map(\.retrying) == [.truncated, .outdated])
        #expect(try Quarantine(harness.database).retry() == 0)
        #expect(try Quarantine(harness.database).bytes(of: 2)?.count == 65536)
        #expect(try Quarantine(harness.database).drop(2) == 1)
        #expect(try Quarantine(harness.database).drop() == 1)
    }

    @Test("a stanza that is still over a limit stays, with the reason")
    func overLimit() throws {
        let harness = try StepHarness.caughtUp()
        let deep =
            "<message>" + String(repeating: "<a>", count: 5000) + String(repeating: "</a>", count: 5000) + "</message>"
        try harness.database.run(
            "INSERT INTO quarantine(account, at, reason, name, size, stanza) VALUES (1, 1, 'x', 'message', ?, ?)",
            [.integer(Int64(deep.utf8.count)), .blob(Array(deep.utf8))])
        try Quarantine(harness.database).retry()
        _ = try Replay.next(of: harness.account, harness.runner)
        #expect(try Quarantine(harness.database).stanzas().first?.reason == "tried again: over the limit on depth")
    }

    @Test("nobody drives: the stanzas are tried without going online")
    func offline() throws {
        let harness = try poisoned()
        try update(harness)
        try Quarantine(harness.database).retry()
        #expect(throws: (any Error).self, "this process drives") { try Engine.replayQuarantine(harness.directory) }
        try harness.fence.letGo(harness.database)
        var told: [String] = []
        try Engine.replayQuarantine(harness.directory) { told += Step.Effects(events: [$0]).told }
        #expect(told == ["message poison"])
        #expect(try harness.history() == ["in before", "in poison", "in after"])
    }
}
