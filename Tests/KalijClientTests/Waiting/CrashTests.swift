import Foundation
import KalijHandlers
import KalijCoordination
import KalijStore
import KalijStream
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "A handler that ends its process" is called in three processes, not in a fourth: the handler becomes a dead letter,
/// and the rest of its step is done.
///
/// Real processes: each exit test is a process, and finds its directory in the environment.
@Suite(.serialized) struct CrashTests {
    /// Ends the process, like a trap or the system.
    private static func die() { kill(getpid(), SIGKILL) }

    struct DeadlyTimer: InvalidatableHandler {
        static let name = "deadly.timer"
        func call(_: Void, in step: Step) { CrashTests.die() }
        func invalidate(_ reason: Invalidation, in step: Step) { CrashTests.die() }
    }

    struct DeadlyRequest: InvalidatableHandler {
        static let name = "deadly.request"
        func call(_ reply: IQReply, in step: Step) { CrashTests.die() }
        func invalidate(_ reason: Invalidation, in step: Step) { CrashTests.die() }
    }

    struct DeadlyWaiter: Handler {
        static let name = "deadly.waiter"
        func call(_ outcome: PromiseOutcome<Int>, in step: Step) { CrashTests.die() }
    }

    private static let variable = "KALIJ_CRASH_DIRECTORY"
    private enum Deadly: Feature {
        static let name = "org.example.deadly"
        static let handlerPrefix = "deadly"
        static var handlers: [any Handler<Step>.Type] { [DeadlyTimer.self, DeadlyRequest.self, DeadlyWaiter.self] }
    }

    /// A process that drives until no handler is left to call.
    private static func drive() throws {
        let path = try #require(ProcessInfo.processInfo.environment[variable])
        var options = Engine.Options(timing: EngineFixture.timing)
        options.features = [Log.self, Deadly.self]
        let engine = try Engine(AccountDirectory(path), options: options) { _ in }
        engine.loop.schedule(after: 1) { [weak engine] in engine?.stop() }
        try engine.run()
    }

    private static func logOut() throws {
        let path = try #require(ProcessInfo.processInfo.environment[variable])
        var options = Engine.Options(timing: EngineFixture.timing)
        options.features = [Log.self, Deadly.self]
        try Engine.logOutRequested(AccountDirectory(path), options: options, online: false)
    }

    /// All handlers are due at once; nobody listens on the account's port.
    private func prepare(_ body: (Step) throws -> Void) throws -> EngineFixture {
        let drive = try EngineFixture(port: 1)
        setenv(Self.variable, drive.directory.path, 1)
        let database = try drive.database()
        let account = try AccountTable(database).account(nil, in: drive.directory)
        try Step.accept(for: account, in: database, body)
        return drive
    }

    private func log(_ drive: EngineFixture) throws -> [String] {
        try drive.database().prepare("SELECT text FROM log ORDER BY rowid").all { $0.text() }
    }

    private func letters(_ drive: EngineFixture) throws -> [String] {
        try drive.database().prepare("SELECT name || ': ' || reason FROM dead_letter ORDER BY id").all { $0.text() }
    }

    private let reason = "3 processes ended while they called it"

    private func endsThrice(_ drive: EngineFixture) async throws {
        for crashes in Int64(0)..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { try CrashTests.drive() }
            #expect(try letters(drive).isEmpty, "after \(crashes + 1) crashes")
        }
        await #expect(processExitsWith: .success) { try CrashTests.drive() }
    }

    @Test("a timer's handler: the third crash is the last, and later timers fire")
    func timer() async throws {
        let drive = try prepare { step in
            try step.schedule(DeadlyTimer(), at: 1)
            try step.schedule(Log.Rung(text: "behind"), at: 2)
        }
        try await endsThrice(drive)
        #expect(try letters(drive) == ["deadly.timer: \(reason)"])
        #expect(try log(drive) == ["behind rung"])
        #expect(try drive.number("SELECT count(*) FROM timer") == 0)
    }

    @Test("a request's handler, at its deadline")
    func timeout() async throws {
        let drive = try prepare { step in
            try step.send(.question(to: nil), then: DeadlyRequest(), within: .zero)
            try step.send(.question(to: nil), then: Log.Logged(text: "behind"), within: .zero)
        }
        try await endsThrice(drive)
        #expect(try letters(drive) == ["deadly.request: \(reason)"])
        #expect(try log(drive) == ["behind: timeout"])
    }

    @Test("one of several handlers of a promise: the others are called, once")
    func waiter() async throws {
        let drive = try prepare { step in
            let promise = try step.promise(of: Int.self)
            try step.then(promise, Log.Awaited(text: "before"))
            try step.then(promise, DeadlyWaiter())
            try step.then(promise, Log.Awaited(text: "behind"))
            try step.resolve(promise, with: 7)
        }
        try await endsThrice(drive)
        #expect(try letters(drive) == ["deadly.waiter: \(reason)"])
        #expect(try log(drive) == ["before 7", "behind 7"])
    }

    @Test("an invalidation: the logout is done, and other waiting handlers are invalidated, once")
    func invalidation() async throws {
        let drive = try prepare { step in
            try step.schedule(Log.Rung(text: "before"), at: step.now + 1_000_000)
            try step.schedule(DeadlyTimer(), at: step.now + 2_000_000)
            try step.schedule(Log.Rung(text: "behind"), at: step.now + 3_000_000)
            try step.database.run("UPDATE account SET state = 'leaving'")
        }
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { try CrashTests.logOut() }
        }
        await #expect(processExitsWith: .success) { try CrashTests.logOut() }
        #expect(try letters(drive) == ["deadly.timer: \(reason)"])
        #expect(try log(drive) == ["before: logged out", "behind: logged out"])
        #expect(try drive.number("SELECT count(*) FROM account WHERE state = 'out'") == 1)
    }

    // MARK: Ends without a crash

    private func row(_ id: String = "1") -> CrashMarker.Row { CrashMarker.Row(account: 1, origin: .timer, id: id) }

    @Test("a process that ends after the call, or is not the last driver, is not counted")
    func noCrash() throws {
        let scratch = try ScratchDirectory()
        let (first, second) = (
            CrashMarker(path: scratch.file("m"), fence: 7), CrashMarker(path: scratch.file("m"), fence: 8)
        )
        #expect(second.left() == nil)
        first.set(row("a longer one"))
        first.set(row())
        #expect(second.left() == row())
        #expect(CrashMarker(path: scratch.file("m"), fence: 9).left() == nil)
        #expect(first.left() == nil)
        first.clear()
        #expect(second.left() == nil)
        for garbage in ["", "\n", "7 1 timer", "7 1 nothing 1\n", "x y z a\n", String(repeating: "7", count: 9000)] {
            try garbage.write(toFile: scratch.file("m"), atomically: true, encoding: .utf8)
            #expect(second.left() == nil)
        }
    }

    @Test("a thrown error leaves no mark: neither a handler's error nor a full disk")
    func thrown() throws {
        enum Crash: Feature {
            static let name = "org.example.crash"
            static let handlerPrefix = "crash"
            static var handlers: [any Handler<Step>.Type] { [Full.self] }
        }
        struct Full: Handler {
            static let name = "crash.full"
            func call(_: Void, in step: Step) throws {
                throw StoreError(.full, "no room")
            }
        }
        let scratch = try ScratchDirectory()
        let harness = try StepHarness(features: [Log.self, Crash.self])
        let mark = CrashMarker(path: scratch.file("m"), fence: 7)
        let runner = StepRunner(
            database: harness.database, fence: harness.fence, barrier: Barrier(harness.database),
            clock: harness.clock.clock, features: try Features([Log.self, Crash.self]), mark: mark)
        let steps = SessionSteps(runner: runner, account: harness.account)
        try harness.perform { _ = try $0.schedule(Full(), at: 0) }
        for _ in 0..<5 {
            #expect(throws: StoreError(.full, "")) { _ = try steps.due() }
            #expect(CrashMarker(path: scratch.file("m"), fence: 8).left() == nil)
        }
        #expect(try harness.number("SELECT crashes FROM timer") == 0)
        try harness.perform { try $0.database.execute("UPDATE timer SET name = 'log.rung'") }
        try harness.perform { step in
            try step.database.run("DELETE FROM timer")
            _ = try step.schedule(Log.Rung(text: "one"), at: 0)
        }
        _ = try steps.due()
        #expect(CrashMarker(path: scratch.file("m"), fence: 8).left() == nil)
        #expect(try harness.log() == ["one rung"])
    }

    @Test("the stanza for which the handler was called is not to blame for the crash")
    func stanza() throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one")
        let scratch = try ScratchDirectory()
        let attempts = Attempts(runner: harness.runner, account: harness.account)
        #expect(try attempts.begin(HandledCount(7)) == 1)
        CrashMarker(path: scratch.file("m"), fence: 7).set(CrashMarker.Row(account: 1, origin: .request, id: id))
        try CrashMarker(path: scratch.file("m"), fence: 8).countCrash(in: harness.database)
        #expect(try harness.number("SELECT crashes FROM request") == 1)
        #expect(try attempts.begin(HandledCount(7)) == 1)
        // The mark of a handled request: the row is gone.
        CrashMarker(path: scratch.file("m"), fence: 7).set(CrashMarker.Row(account: 1, origin: .request, id: "gone"))
        try CrashMarker(path: scratch.file("m"), fence: 8).countCrash(in: harness.database)
        #expect(try attempts.begin(HandledCount(7)) == 2)
    }

    @Test("logging out invalidates a handler that asks again and again some times, and then gives it up")
    func asksAgain() throws {
        let harness = try StepHarness.logging()
        try harness.perform { _ = try $0.send(.question(to: nil), then: Log.AsksAgain()) }
        _ = try harness.logoutSteps.logOut(removing: false)
        #expect(try harness.count("request") == 0 && harness.count("queue") == 0 && harness.count("dead_letter") == 1)
    }
}
