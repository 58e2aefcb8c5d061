import KalijHandlers
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Durable timers, and invalidation on failed resume, logout, account removal."
struct TimerTests {
    private func run(_ steps: SessionSteps) throws { while try steps.due() != nil {} }

    @Test("a timer fires once, in the driver at its time or later, in the order of the times")
    func fires() throws {
        let harness = try StepHarness.logging()
        try harness.perform { step in
            try step.schedule(Log.Rung(text: "second"), at: step.now + 2000)
            try step.schedule(Log.Rung(text: "first"), at: step.now + 1000)
            try step.schedule(Log.Rung(text: "third"), at: step.now + 5000)
        }
        #expect(try harness.steps.nextTimer() == harness.clock.now + 1000)
        try run(harness.steps)
        #expect(try harness.log().isEmpty)
        harness.clock.move(by: 2000)
        try run(try harness.inAnotherProcess())
        try run(harness.steps)
        #expect(try harness.log() == ["first rung", "second rung"])
        #expect(try harness.steps.nextTimer() == harness.clock.now + 3000)
    }

    @Test("a timer can be cancelled once, with an invalidation; afterwards its number means nothing")
    func cancelled() throws {
        let harness = try StepHarness.logging()
        let timer = try harness.perform { try $0.schedule(Log.Rung(text: "one"), at: $0.now) }
        #expect(try harness.perform { try $0.cancel(timer) })
        try harness.perform { _ = try $0.schedule(Log.Rung(text: "two"), at: $0.now) }
        #expect(try !harness.perform { try $0.cancel(timer) })
        try run(harness.steps)
        #expect(try harness.log() == ["one: withdrawn", "two rung"])
    }

    @Test("a lost session does not touch timers")
    func sessionLost() throws {
        let harness = try StepHarness.logging()
        try harness.perform { _ = try $0.schedule(Log.Rung(text: "one"), at: $0.now) }
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        try run(harness.steps)
        #expect(try harness.log() == ["one rung"])
    }

    @Test("logging out invalidates all waiting handlers and deletes the credentials; the messages stay")
    func loggedOut() throws {
        let harness = try StepHarness.logging()
        try harness.receive(ArchiveSyncTests.live("hello", archive: "a1"))
        try wait(harness)
        _ = try harness.logoutSteps.logOut(removing: false)
        #expect(try harness.log() == ["asked: logged out", "timer: logged out", "promise logged out"])
        for table in ["request", "timer", "waiter", "queue"] { #expect(try harness.count(table) == 0, "\(table)") }
        #expect(try harness.number("SELECT count(*) FROM account WHERE keys IS NULL AND password IS NULL") == 1)
        #expect(try harness.history() == ["in hello"])
        #expect(try AccountTable(harness.database).account(nil, in: harness.directory).state == .out)
    }

    @Test("removing an account invalidates all waiting handlers and leaves nothing of the account")
    func removed() throws {
        let harness = try StepHarness.logging()
        try harness.accept("hello")
        try harness.receive(ArchiveSyncTests.live("hello", archive: "a1"))
        try wait(harness)
        _ = try harness.logoutSteps.logOut(removing: true)
        #expect(try harness.log() == ["asked: account removed", "timer: account removed", "promise account removed"])
        let left = Set(try harness.dump().map { $0.prefix { $0 != ":" } }).sorted()
        #expect(
            left == [
                "clock", "event", "event_forgotten", "fence", "file_garbage", "log", "message_gone", "migration",
                "search_progress", "search_text_config", "search_text_data",
            ], "the directory's tables keep rows: numbers that are never used again, and an empty index")
    }

    private func wait(_ harness: StepHarness) throws {
        _ = try harness.ask("asked", to: "romeo@example.net")
        try harness.perform { step in
            _ = try step.schedule(Log.Rung(text: "timer"), at: step.now + 5000)
            try step.then(step.promise(), Log.Awaited(text: "promise"))
            _ = try step.send(.question(to: nil), then: Log.Silent())
        }
    }
}
