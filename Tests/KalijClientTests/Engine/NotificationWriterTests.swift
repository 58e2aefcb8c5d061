import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 3: effects leave after the commit; only what is told to the server waits for a sync (durability 4).
@Suite struct NotificationWriterTests {
    private static let message = """
        <message from='romeo@localhost/x' to='juliet@localhost/test' type='chat' id='1'><body>one</body></message>\
        <r xmlns='urn:xmpp:sm:3'/>
        """

    /// Wakes up for one message.
    /// - Parameter show: told the number of barriers when the message was stored, and now.
    private func wake(_ drive: EngineFixture, _ show: @escaping (_ stored: Int64, _ now: Int64) throws -> Void) throws {
        let raised = { try drive.number("SELECT number FROM barrier") ?? 0 }
        var options = Engine.Options(role: .wake, timing: EngineFixture.timing)
        options.budget = hangLimit
        var (stored, problem): (Int64, (any Error)?) = (-1, nil)
        var engine: Engine?
        options.onNotification = { _ in
            do { try show(stored, try raised()) } catch { problem = error }
            // The acknowledgement follows in the same turn of the loop.
            engine?.loop.schedule(after: 0.2) { engine?.stop() }
        }
        let made = try Engine(drive.directory, options: options) { event in
            if event.content is MessageStored { stored = (try? raised()) ?? -1 }
        }
        engine = made
        defer { engine = nil }
        try made.run()
        if let problem { throw problem }
    }

    @Test(
        "a notification is shown before the wait for the acknowledgement's sync, and the disk has the mark that it may be shown"
    )
    func beforeTheBarrier() throws {
        let scratch = try ScratchDirectory()
        try Self.message.write(toFile: scratch.file("recording.xml"), atomically: true, encoding: .utf8)
        let server = try ScriptedServer("replay", scratch.file("recording.xml"))
        defer { server.stop() }
        let drive = try EngineFixture(server)
        var shown: [Int64] = []
        try wake(drive) { stored, now in
            #expect(stored == now)
            let begun = try drive.number("SELECT begun FROM notification")
            #expect(begun == 1)
            shown.append(now)
        }
        try #require(!shown.isEmpty)
        #expect(try drive.number("SELECT number FROM barrier") ?? 0 > shown.first ?? 0)
        #expect(try drive.number("SELECT min(done) FROM notification") == 1)
    }

    struct OutputFailed: Error {}

    /// "Showing can fail, in the API too: then the row stays owed and the exit status says so."
    @Test(
        "a notification that could not be shown is still owed, tried again, and otherwise left for the next process",
        arguments: [1, 1000])
    func fails(_ failures: Int) throws {
        let scratch = try ScratchDirectory()
        try Self.message.write(toFile: scratch.file("recording.xml"), atomically: true, encoding: .utf8)
        let server = try ScriptedServer("replay", scratch.file("recording.xml"))
        defer { server.stop() }
        let drive = try EngineFixture(server)
        var options = Engine.Options(role: .wake, timing: EngineFixture.timing)
        options.budget = hangLimit
        var (tried, shown) = (0, 0)
        var engine: Engine?
        options.onNotification = { _ in
            tried += 1
            if tried == 3, failures > 3 { engine?.loop.schedule(after: 0) { engine?.stop() } }
            if tried <= failures { throw OutputFailed() }
            shown += 1
            engine?.loop.schedule(after: 0.2) { engine?.stop() }
        }
        let made = try Engine(drive.directory, options: options) { _ in }
        engine = made
        defer { engine = nil }
        made.loop.schedule(after: hangLimit) { engine?.stop() }
        let ending = try made.run()
        #expect(tried > 1)
        let owed = try drive.number("SELECT count(*) FROM notification WHERE done = 0") ?? -1
        #expect(failures == 1 ? shown > 0 && owed == 0 : shown == 0 && owed > 0)
        #expect(ending == (failures == 1 ? .stopped : .unfinished))
    }

    @Test("the fence was taken with a sync: earlier commits need no barrier, later commits do")
    func firstBarrier() throws {
        let harness = try StepHarness(notifies: true)
        let runner = StepRunner(
            database: harness.database, fence: harness.fence, barrier: Barrier(harness.database), clock: .system,
            features: try Features(), isSynced: true)
        let raised = { try harness.database.prepare("SELECT number FROM barrier").first { $0.integer() } ?? 0 }
        let before = try raised()
        try runner.raiseBarrier()
        #expect(try raised() == before)
        try runner.write { _ in }
        try runner.raiseBarrier()
        #expect(try raised() == before + 1)
    }
}
