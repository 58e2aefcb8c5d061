import Foundation
import KalijCoordination
import KalijStore
import KalijTransport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Which engine drives, how an engine lets go, and that nobody relies on an engine that is letting go.
struct EngineTests {
    @Test("told to stop, an engine lets go, however the server hangs", arguments: ["silent", "idle"])
    func lettingGo(_ mode: String) throws {
        let server = try ScriptedServer(mode)
        let drive = try EngineFixture(server)
        let seconds = try drive.run { _, event in event.short == (mode == "idle" ? "online" : "connecting") }
        // A second, and what a busy machine adds.
        print("\(mode): an engine let go in \(seconds) s")
        #expect(try drive.number("SELECT let_go FROM fence") == 1)
        #expect(try drive.directory.drive(role: .main, now: 1).careful == false)
    }

    @Test("a second engine is refused and says who drives")
    func second() throws {
        let server = try ScriptedServer("silent")
        let drive = try EngineFixture(server)
        let first = try Engine(drive.directory) { _ in }
        do {
            _ = try Engine(drive.directory) { _ in }
            Issue.record("two engines drive")
        } catch FenceError.held(let owner) {
            #expect((owner.role, owner.pid) == (.main, getpid()))
        }
        withExtendedLifetime(first) {}
    }

    @Test(
        "an engine that starts after a death is careful; if it is careful to its end, the next engine is careful, too")
    func careful() throws {
        let server = try ScriptedServer("silent")
        let drive = try EngineFixture(server)
        try drive.database().execute("UPDATE fence SET let_go = 0")
        try drive.run { _, _ in true }
        #expect(try drive.number("SELECT let_go FROM fence") == 0)
        #expect(try drive.directory.drive(role: .main, now: 1).careful)
    }

    @Test("a background engine sends the queued messages and ends by itself")
    func background() throws {
        let server = try ScriptedServer("idle")
        let drive = try EngineFixture(server)
        try drive.accept("one")
        try drive.accept("two")
        try drive.run(.background) { _, _ in false }
        #expect(try drive.states() == ["one acked", "two acked"])
        #expect(drive.told.contains("two is acked"))
    }

    @Test("messages committed while a background engine ends are sent all the same")
    func committedAtTheEnd() throws {
        // The engine ends slowly: time for another process to commit.
        let server = try ScriptedServer("--linger", "0.2", "idle")
        let drive = try EngineFixture(server)
        try drive.accept("one")
        var isCommitted = false
        func commitOnceItIsDeaf(_ engine: Engine) {
            guard !isCommitted else { return }
            if Doorbell.bell(directory: drive.scratch.path) == nil {
                isCommitted = true
                _ = try? drive.accept("two")
            } else {
                engine.loop.enqueue { commitOnceItIsDeaf(engine) }
            }
        }
        try drive.run(.background) { engine, event in
            if event.short == "one is acked" { engine.loop.enqueue { commitOnceItIsDeaf(engine) } }
            return false
        }
        #expect(isCommitted)
        #expect(try drive.states() == ["one acked", "two acked"])
    }

    @Test("an engine that stops does not answer the doorbell, and leaves the next engine's doorbell alone")
    func doorbell() throws {
        let server = try ScriptedServer("silent")
        let drive = try EngineFixture(server)
        var first: Engine? = try Engine(drive.directory, options: .init(timing: EngineFixture.timing)) { _ in }
        #expect(Doorbell.bell(directory: drive.scratch.path) != nil)
        first?.loop.enqueue { [first] in
            first?.stop()
            #expect(Doorbell.bell(directory: drive.scratch.path) == nil)
        }
        try first?.run()
        // The first engine has given the fence back, and still exists.
        let next = try Engine(drive.directory) { _ in }
        first = nil
        #expect(Doorbell.bell(directory: drive.scratch.path) != nil)
        withExtendedLifetime(next) {}
    }

    @Test("a server that acknowledges nothing is disconnected after a time")
    func unacknowledged() throws {
        let server = try ScriptedServer("--late", "header-only")
        let drive = try EngineFixture(server)
        try drive.accept("one")
        try drive.run(timing: EngineFixture.impatientTiming) { _, event in event.short.hasPrefix("offline") }
        #expect(!drive.reasons.isEmpty)
    }
}
