import KalijLab
import Foundation
import KalijAddress
import KalijHandlers
import KalijCoordination
import KalijStore
import Synchronization
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "The public API for an app: `Engine(role:)`, events as an `AsyncSequence`, notifications as another."
@Suite(.serialized) struct RunningEngineTests {
    private let drive: EngineFixture
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer("idle")
        drive = try EngineFixture(server)
    }

    private func start(_ role: Role = .main) async throws -> RunningEngine {
        var options = Engine.Options(timing: EngineFixture.timing)
        options.budget = hangLimit
        return try await Engine.start(role: role, in: drive.directory, options: options)
    }

    private var driver: FenceOwner? {
        get throws { try StatusReader(drive.directory, drive.directory.read()).driver() }
    }

    /// Waits until `isIt` is told.
    private func told(_ events: inout EngineEvents.Iterator, _ isIt: (String) -> Bool) async throws {
        while let event = await events.next() { if isIt(event.short) { return } }
        Issue.record("the events end before")
    }

    private func romeo() throws -> JID { try JID("romeo@localhost") }

    @Test(
        "SIGTERM and SIGINT stop an engine in order, whichever thread gets the signal",
        arguments: [SIGTERM, SIGINT])
    func signals(number: Int32) async throws {
        var options = Engine.Options(timing: EngineFixture.timing)
        options.stopsOnSignals = true
        // A shell's job in the background ignores SIGINT, and an ignored signal reaches nobody.
        signal(number, SIG_DFL)
        let engine = try await Engine.start(role: .main, in: drive.directory, options: options)
        var events = engine.events.makeAsyncIterator()
        try await told(&events) { $0 == "online" }
        Thread.detachNewThread {
            // As the main thread, which blocks no signal.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            pthread_kill(pthread_self(), number)
        }
        #expect(try await engine.waitUntilEnded() == .stopped)
        #expect(try drive.number("SELECT let_go FROM fence") == 1)
    }

    @Test("events are told from the beginning to the end; accepted messages are sent")
    func events() async throws {
        let engine = try await start()
        var events = engine.events.makeAsyncIterator()
        try await told(&events) { $0 == "connecting" }
        try await told(&events) { $0 == "online" }
        let message = try await engine.accept("hello", to: try romeo())
        #expect(message.state == .queued)
        try await told(&events) { $0 == "hello is acked" }
        #expect(try driver?.role == .main)
        #expect(try await engine.stop() == .stopped)
        while await events.next() != nil {}
        #expect(try driver == nil)
        #expect(try drive.number("SELECT let_go FROM fence") == 1)
    }

    @Test("messages shared by another process are sent by the running engine, and by the next engine")
    func shares() async throws {
        try drive.directory.share("before", to: try romeo())
        let engine = try await start()
        var events = engine.events.makeAsyncIterator()
        try await told(&events) { $0 == "before is acked" }
        try drive.directory.share("meanwhile", to: try romeo())
        try await told(&events) { $0 == "meanwhile is acked" }
        try await engine.stop()
        try drive.directory.share("afterwards", to: try romeo())
        #expect(try await start(.background).waitUntilEnded() == .stopped)
        #expect(try drive.states() == ["before acked", "meanwhile acked", "afterwards acked"])
    }

    @Test("messages accepted by another process are sent before messages accepted later, even without a ring")
    func order() async throws {
        let engine = try await start()
        var events = engine.events.makeAsyncIterator()
        try await told(&events) { $0 == "online" }
        let account = try #require(try AccountTable(drive.directory.read()).all().first)
        let left = SharedMessage(try OutgoingText("left", to: try romeo(), id: "left"))
        _ = try MailboxQueue(directory: drive.directory.path)
            .add(SharedMessage.name, left.payload, from: account.jid.description, now: 1)
        try await engine.accept(SetDraft("he", for: try romeo()))
        try await engine.accept("here", to: try romeo(), endsDraft: true)
        #expect(try Draft.load(for: try romeo().description, of: account.id, in: drive.directory.read()) == nil)
        try await told(&events) { $0 == "here is acked" }
        #expect(try drive.states() == ["left acked", "here acked"])
        try await engine.stop()
    }

    @Test(
        "before a freeze everything is let go, and others drive; after the thaw the engine goes on, with the same events"
    )
    func freezes() async throws {
        let engine = try await start()
        var events = engine.events.makeAsyncIterator()
        try await told(&events) { $0 == "online" }
        try await engine.prepareForFreeze()
        #expect(try driver == nil)
        try await engine.prepareForFreeze()
        #expect(try await engine.accept("frozen", to: try romeo()).state == .queued)
        await #expect(throws: EngineError.self) { try await engine.perform { _ in } }
        #expect(try await start(.background).waitUntilEnded() == .stopped)
        #expect(try drive.states() == ["frozen acked"])
        engine.didThaw()
        try await told(&events) { $0 == "online" }
        #expect(try driver?.role == .main)
        engine.didThaw()
        try await engine.accept("thawed", to: try romeo())
        try await told(&events) { $0 == "thawed is acked" }
        try await engine.prepareForFreeze()
        #expect(try await engine.stop() == .frozen)
        while await events.next() != nil {}
        #expect(try driver == nil)
    }

    @Test("a second engine without precedence is told who drives; a wake hands its push over")
    func second() async throws {
        let engine = try await start()
        await #expect(throws: FenceError.self) { try await start() }
        #expect(try await start(.wake).waitUntilEnded() == .handedOver)
        #expect(try await start(.background).waitUntilEnded() == .handedOver)
        #expect(try driver?.role == .main)
        try await engine.stop()
    }

    /// A function of its own: a debug build keeps an object until the function's end.
    private func startAndForget() async throws {
        let engine = try await start()
        #expect(try driver?.role == .main)
        withExtendedLifetime(engine) {}
    }

    @Test("an engine that nobody refers to lets go")
    func forgotten() async throws {
        try await startAndForget()
        let deadline = ContinuousClock.now + .seconds(hangLimit)
        while try driver != nil, .now < deadline { try await sleep(for: .milliseconds(10)) }
        #expect(try driver == nil)
    }

    @Test("a directory without accounts is reported at once; a cancelled task waits no longer")
    func errors() async throws {
        let nowhere = AccountDirectory(drive.scratch.file("nowhere"))
        await #expect(throws: DirectoryError.self) {
            try await Engine.start(role: .main, in: nowhere).waitUntilEnded()
        }
        let engine = try await start()
        let waiting = Task { try await engine.waitUntilEnded() }
        let reading = Task {
            for await _ in engine.events {}
            for await _ in engine.notifications {}
        }
        try await sleep(for: .milliseconds(50))
        waiting.cancel()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await reading.value
        #expect(try driver?.role == .main)
        try await engine.stop()
    }

    /// Set by the destructor of the engine's thread, after a pause in which `exit` would run its handlers.
    private static let isDestroyed = Atomic(false)

    @Test("the engine's thread no longer exists when `stop` returns: `exit` runs beside no destructor of it")
    func joined() async throws {
        let engine = try await start()
        try await engine.perform { _ in
            var key = pthread_key_t()
            let made = pthread_key_create(&key) { _ in
                // Longer than a `stop` that does not join takes to return.
                usleep(100_000)
                Self.isDestroyed.store(true, ordering: .sequentiallyConsistent)
            }
            #expect(made == 0 && pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) == 0)
        }
        #expect(try await engine.stop() == .stopped)
        let isDestroyed = Self.isDestroyed.load(ordering: .sequentiallyConsistent)
        #expect(isDestroyed)
    }

    @Test("a step and a promise from any task")
    func steps() async throws {
        let engine = try await start()
        let promise = try await engine.perform { step in try step.promise(of: String.self, within: .seconds(60)) }
        try await engine.perform { step in try step.resolve(promise, with: "kept") }
        #expect(try await engine.value(of: promise) == "kept")
        try await engine.stop()
    }

    // MARK: Notifications

    /// A message of romeo's is stored and owed to the user.
    private func owe(_ body: String) throws {
        let database = try drive.database()
        let account = try AccountTable(database).account(nil, in: drive.directory)
        try Step.accept(for: account, in: database) { step in
            try step.database.run(
                """
                INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type,
                    body, shown, sent_at)
                VALUES (?1, 'in', 'romeo@localhost', ?2, '', ?3, 'romeo@localhost/x', 'juliet@localhost', 'chat', ?3, 1, 1)
                """, [.integer(account.id), .integer(try step.nextPosition()), .text(body)])
            try step.database.run(
                "INSERT INTO notification(account, message, conversation, kind) VALUES (?, ?, 'romeo@localhost', 'show')",
                [.integer(account.id), .integer(step.database.lastInsertedRow)])
        }
    }

    private func owed() throws -> Int64? { try drive.number("SELECT count(*) FROM notification WHERE done = 0") }

    @Test("a notification is done when the loop asks for the next, not before; a wake waits for this, and ends")
    func notifications() async throws {
        try owe("one")
        try owe("two")
        let engine = try await start(.wake)
        var iterator = engine.notifications.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.body == "one" && first?.kind == .show)
        #expect(try owed() == 2)
        // Longer than a wake waits for a push.
        try await sleep(for: .seconds(2))
        #expect(try driver?.role == .wake)
        #expect(await iterator.next()?.body == "two")
        #expect(try owed() == 1)
        #expect(await iterator.next() == nil)
        #expect(try owed() == 0)
        #expect(try await engine.waitUntilEnded() == .stopped)
    }

    @Test("a notification without confirmation is shown again by the next process, under the same identifier")
    func shownAgain() async throws {
        try owe("one")
        let engine = try await start(.wake)
        var iterator = engine.notifications.makeAsyncIterator()
        let first = await iterator.next()
        try await engine.stop()
        #expect(try owed() == 1)
        let next = try await start(.wake)
        for await again in next.notifications { #expect(again == first) }
        #expect(try owed() == 0)
    }

    @Test("a loop that ends gives its notification back; several loops share")
    func shared() async throws {
        try owe("one")
        try owe("two")
        let engine = try await start()
        for await notification in engine.notifications where notification.body == "one" { break }
        var (left, right) = (engine.notifications.makeAsyncIterator(), engine.notifications.makeAsyncIterator())
        let bodies = [await left.next()?.body, await right.next()?.body]
        #expect(bodies == ["one", "two"])
        try await engine.stop()
    }
}
