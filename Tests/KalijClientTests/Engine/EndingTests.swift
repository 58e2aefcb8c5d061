import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, roles 9: a process that is told to end lets go of everything within a second, whoever else uses the
/// databases.
@Suite(.serialized) struct EndingTests {
    private let drive: EngineFixture
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer("idle")
        drive = try EngineFixture(server)
    }

    /// Runs until the session begins, and ends while another process is within a transaction of the database at `path`.
    /// - Parameter change: the change in this transaction.
    /// The other process commits when the engine has ended, and not before.
    private func end(whileBusy path: String, _ change: String = "") throws {
        var (writer, start): (Database?, Double) = (nil, 0)
        var engine: Engine?
        let made = try Engine(drive.directory, options: .init(timing: EngineFixture.timing)) { event in
            guard event.content is Online, let engine else { return }
            // The first writes of the session are done by then.
            engine.loop.schedule(after: 0.5) {
                start = engine.loop.now
                writer = try? Database(path: path, durability: .process)
                try? writer?.execute("BEGIN IMMEDIATE;" + change)
                engine.stop()
            }
        }
        engine = made
        try made.run()
        engine = nil
        // A second is promised; without a bound it was 10.
        print("ended in \(made.loop.now - start) s beside a writer")
        try #require(writer != nil)
        try writer?.execute("COMMIT")
    }

    @Test(
        "another process writes to the mailbox: the engine ends, in order, and the next engine finds the letters"
    )
    func mailbox() throws {
        let letter = """
            INSERT INTO letter(address, role, pid, name, payload, expires)
            SELECT address, 'wake', 1, 'pushArrived', x'', 9000000000000000 FROM receiver
            """
        try end(whileBusy: Mailbox.databasePath(in: drive.directory.path), letter)
        #expect(try drive.number("SELECT let_go FROM fence") == 1)
        let left = {
            try Database(reading: Mailbox.databasePath(in: drive.directory.path))
                .prepare("SELECT count(*) FROM letter").first { $0.integer() }
        }
        #expect(try left() == 1)
        // Nobody rings a process that has ended.
        let mailbox = try drive.directory.mailbox()
        #expect(try mailbox.send(.pushArrived, to: .driver, from: .wake, now: 1) == nil)
        try drive.run { _, event in event.content is Online }
        #expect(try left() == 0)
    }

    @Test(
        "another process writes to the accounts' database: the engine ends, and the next driver is careful"
    )
    func database() throws {
        try end(whileBusy: drive.directory.databasePath)
        #expect(try drive.number("SELECT let_go FROM fence") == 0)
        let next = try drive.directory.drive(role: .wake, now: 1)
        #expect(next.careful)
        try next.fence.letGo(next.database)
    }

    @Test("an engine whose work is done waits for a writer of the mailbox, but not after it was told to end")
    func done() throws {
        for isTold in [false, true] {
            let other = try Database(path: Mailbox.databasePath(in: drive.directory.path), durability: .process)
            var options = Engine.Options(role: .background, timing: EngineFixture.timing)
            var isOnline = false
            options.mayEnd = {
                if isOnline { try? other.execute("BEGIN IMMEDIATE") }
                return isOnline
            }
            let engine = try Engine(drive.directory, options: options) { event in
                if event.content is Online { isOnline = true }
            }
            var isCommitted = false
            engine.loop.schedule(after: isTold ? hangLimit : 3) {
                isCommitted = true
                try? other.execute("COMMIT")
            }
            if isTold { engine.loop.schedule(after: 2) { [weak engine] in engine?.stop() } }
            try engine.run()
            #expect(isCommitted == !isTold)
            #expect(try drive.number("SELECT let_go FROM fence") == 1)
            try? other.execute("COMMIT")
        }
    }
}
