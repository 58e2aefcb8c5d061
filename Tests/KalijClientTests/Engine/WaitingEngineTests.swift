import KalijLab
import Foundation
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML
import Synchronization
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Handlers, timers and promises of an application, through an engine.
@Suite(.serialized) struct WaitingEngineTests {
    /// A value handed over between the engine's thread and the test's thread.
    private final class Box<Value: Sendable>: Sendable {
        private let contents: Mutex<Value?> = Mutex(nil)
        func put(_ value: Value) { contents.withLock { $0 = value } }
        var isPut: Bool { contents.withLock { $0 != nil } }
        func get() async throws -> Value {
            for _ in 0..<Int(hangLimit * 100) {
                if let value = contents.withLock({ $0 }) { return value }
                try await sleep(for: .milliseconds(10))
            }
            throw CancellationError()
        }
    }

    /// Ends the engine after the tasks have finished: on a busy machine tasks get a processor late.
    private static func stop(_ engine: Engine, once isDone: @escaping @Sendable () -> Bool) {
        engine.loop.schedule(after: 0.05) { [weak engine] in
            guard let engine else { return }
            if isDone() { engine.stop() } else { stop(engine, once: isDone) }
        }
    }

    /// Runs an engine on a thread of its own, until there are so many lines in the log; `body` gets the engine when it is online, or at
    /// the beginning.
    private func run(
        _ server: ScriptedServer, online: Bool = true, lines: Int = .max,
        _ body: @escaping @Sendable (Engine) throws -> Void
    ) async throws -> [String] {
        let port = server.port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.drive(port, online, lines, body) })
            }
        }
    }

    private static func drive(
        _ port: UInt16, _ online: Bool, _ lines: Int, _ body: @escaping @Sendable (Engine) throws -> Void
    ) throws -> [String] {
        let drive = try EngineFixture(port: port)
        var options = Engine.Options(timing: EngineFixture.timing)
        options.features = [Log.self]
        var engine: Engine?
        var begun = false
        var problem: (any Error)?
        let made = try Engine(drive.directory, options: options) { event in
            let isThere = event.content is Online || !online
            guard isThere, !begun else { return }
            begun = true
            engine?.loop.enqueue {
                guard let engine else { return }
                do { try body(engine) } catch { problem = error }
            }
        }
        engine = made
        defer { engine = nil }
        made.loop.schedule(after: hangLimit) { [weak made] in made?.stop() }
        let database = try drive.database()
        func log() throws -> [String] {
            let isThere = try database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log'").first { _ in true }
            return isThere == nil ? [] : try database.prepare("SELECT text FROM log ORDER BY rowid").all { $0.text() }
        }
        func look() {
            if begun, let count = try? log().count, count >= lines { return made.stop() }
            made.loop.schedule(after: 0.05) { look() }
        }
        if lines < .max { look() }
        try made.run()
        if let problem { throw problem }
        return try log()
    }

    @Test("a timer fires at its time, also while there is no connection", arguments: [true, false])
    func timer(online: Bool) async throws {
        let server = try ScriptedServer(online ? "idle" : "silent")
        let log = try await run(server, online: online, lines: 2) { engine in
            try engine.perform { step in
                try step.schedule(Log.Rung(text: "soon"), at: step.now + 300)
                try step.schedule(Log.Rung(text: "later"), at: step.now + 60_000)
                try step.schedule(Log.Rung(text: "at once"), at: 0)
            }
        }
        #expect(log == ["at once rung", "soon rung"])
    }

    @Test("a request without an answer times out after the server has acknowledged all earlier stanzas")
    func timeout() async throws {
        let log = try await run(try ScriptedServer("idle"), lines: 1) { engine in
            try engine.perform { step in
                _ = try step.send(
                    .question(to: "romeo@localhost"), then: Log.Logged(text: "one"), within: .milliseconds(300))
            }
        }
        #expect(log == ["one: timeout"])
    }

    // The server holds the answer back for a quarter of a second, and has to have read the question so long before the deadline.
    @Test("a spontaneous <a/> is no answer to our <r/>: an answer sent before the real <a/> is not a timeout")
    func acknowledgedUnasked() async throws {
        let log = try await run(try ScriptedServer("unasked"), lines: 1) { engine in
            try engine.perform { step in
                _ = try step.send(
                    .question(to: "romeo@localhost"), then: Log.Logged(text: "one"), within: .seconds(2))
            }
        }
        #expect(log == ["one: service-unavailable"])
    }

    @Test("accepting within a step fails at once as misplaced, and does not wait for itself")
    func misplaced() async throws {
        _ = try await run(try ScriptedServer("idle"), lines: 0) { engine in
            try engine.perform { step in
                let misplaced: [() throws -> Void] = [
                    { _ = try engine.accept("one", to: JID("romeo@localhost")) },
                    { try engine.perform { _ in } },
                    { try engine.directory.accept { _ in } },
                ]
                for body in misplaced {
                    do {
                        try body()
                        Issue.record("it was accepted")
                    } catch StepError.withinStep {
                    }
                }
            }
            _ = try engine.accept("two", to: JID("romeo@localhost"))
        }
    }

    @Test("a task awaits a promise: settled later, settled before, rejected, and when the engine ends")
    func awaiting() async throws {
        let server = try ScriptedServer("idle")
        let (awaiter, promises) = (Box<PromiseAwaiter>(), Box<[Promise<Int>]>())
        let settled = Box<Bool>()
        let values = Task {
            let (awaiter, promises) = (try await awaiter.get(), try await promises.get())
            var outcomes: [String] = []
            for promise in promises {
                do { outcomes.append("\(try await awaiter.value(of: promise))") } catch { outcomes.append("\(error)") }
                if outcomes.count == 3 { settled.put(true) }
            }
            return outcomes
        }
        let log = try await run(server) { engine in
            let made = try engine.perform { step in try (0..<4).map { _ in try step.promise(of: Int.self) } }
            try engine.perform { _ = try $0.resolve(made[1], with: 2) }
            awaiter.put(engine.awaiter)
            promises.put(made)
            engine.loop.schedule(after: 0.5) { [weak engine] in
                try? engine?.perform { step in
                    try step.then(made[0], Log.Awaited(text: "stored"))
                    _ = try step.resolve(made[0], with: 1)
                    _ = try step.reject(made[2], with: Rejection("no", "not today"))
                }
            }
            Self.stop(engine) { settled.isPut }
        }
        #expect(try await values.value == ["1", "2", "no: not today", "stopped"])
        #expect(log == ["stored 1"])
    }

    @Test("a cancelled task waits no longer; a missing promise is rejected")
    func cancelled() async throws {
        let server = try ScriptedServer("idle")
        let (awaiter, promise) = (Box<PromiseAwaiter>(), Box<Promise<Int>>())
        let (cancelled, forgotten) = (Box<Bool>(), Box<Bool>())
        let waiting = Task {
            defer { cancelled.put(true) }
            return try await awaiter.get().value(of: try await promise.get())
        }
        let gone = Task {
            defer { forgotten.put(true) }
            let awaiter = try await awaiter.get()
            return try await awaiter.value(of: Promise<Int>(id: 4711))
        }
        _ = try await run(server) { engine in
            promise.put(try engine.perform { try $0.promise(of: Int.self) })
            awaiter.put(engine.awaiter)
            engine.loop.schedule(after: 0.5) { waiting.cancel() }
            Self.stop(engine) { cancelled.isPut && forgotten.isPut }
        }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: Rejection.forgotten) { try await gone.value }
    }

    @Test("an account that is to be logged out is logged out by the engine, which then ends")
    func leaving() async throws {
        let log = try await run(try ScriptedServer("idle")) { engine in
            try engine.perform { step in
                _ = try step.schedule(Log.Rung(text: "timer"), at: step.now + 60_000)
                try step.database.run("UPDATE account SET state = 'leaving'")
            }
            engine.lookAround()
        }
        #expect(log == ["timer: logged out"])
    }
}
