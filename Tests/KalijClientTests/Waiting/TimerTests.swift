import KalijHandlers
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// "Durable timers, and invalidation on failed resume, logout, account removal."
struct TimerTests {
    private func run(_ steps: SessionSteps) throws { while try steps.due() != nil {} }

    @Test("a timer fires once, in the driver at its time or later, in the order of the times")
    func fires() throws {
        let desk = try Desk.logging()
        try desk.perform { step in
            try step.schedule(Log.Rung(text: "second"), at: step.now + 2000)
            try step.schedule(Log.Rung(text: "first"), at: step.now + 1000)
            try step.schedule(Log.Rung(text: "third"), at: step.now + 5000)
        }
        #expect(try desk.steps.nextTimer() == desk.clock.now + 1000)
        try run(desk.steps)
        #expect(try desk.log().isEmpty)
        desk.clock.move(by: 2000)
        try run(try desk.inAnotherProcess())
        try run(desk.steps)
        #expect(try desk.log() == ["first rung", "second rung"])
        #expect(try desk.steps.nextTimer() == desk.clock.now + 3000)
    }

    @Test("a timer can be cancelled once, with an invalidation; afterwards its number means nothing")
    func cancelled() throws {
        let desk = try Desk.logging()
        let timer = try desk.perform { try $0.schedule(Log.Rung(text: "one"), at: $0.now) }
        #expect(try desk.perform { try $0.cancel(timer) })
        try desk.perform { _ = try $0.schedule(Log.Rung(text: "two"), at: $0.now) }
        #expect(try !desk.perform { try $0.cancel(timer) })
        try run(desk.steps)
        #expect(try desk.log() == ["one: withdrawn", "two rung"])
    }

    @Test("a lost session does not touch timers")
    func sessionLost() throws {
        let desk = try Desk.logging()
        try desk.perform { _ = try $0.schedule(Log.Rung(text: "one"), at: $0.now) }
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        try run(desk.steps)
        #expect(try desk.log() == ["one rung"])
    }

    @Test("logging out invalidates all waiting handlers and deletes the credentials; the messages stay")
    func loggedOut() throws {
        let desk = try Desk.logging()
        try desk.receive(CatchUpTests.live("hello", archive: "a1"))
        try wait(desk)
        _ = try desk.logoutSteps.logOut(removing: false)
        #expect(try desk.log() == ["asked: logged out", "timer: logged out", "promise logged out"])
        for table in ["request", "timer", "waiter", "queue"] { #expect(try desk.count(table) == 0, "\(table)") }
        #expect(try desk.number("SELECT count(*) FROM account WHERE keys IS NULL AND password IS NULL") == 1)
        #expect(try desk.history() == ["in hello"])
        #expect(try AccountTable(desk.database).account(nil, in: desk.directory).state == .out)
    }

    @Test("removing an account invalidates all waiting handlers and leaves nothing of the account")
    func removed() throws {
        let desk = try Desk.logging()
        try desk.accept("hello")
        try desk.receive(CatchUpTests.live("hello", archive: "a1"))
        try wait(desk)
        _ = try desk.logoutSteps.logOut(removing: true)
        #expect(try desk.log() == ["asked: account removed", "timer: account removed", "promise account removed"])
        #expect(try desk.dump().isEmpty)
    }

    private func wait(_ desk: Desk) throws {
        _ = try desk.ask("asked", to: "romeo@example.net")
        try desk.perform { step in
            _ = try step.schedule(Log.Rung(text: "timer"), at: step.now + 5000)
            try step.then(step.promise(), Log.Awaited(text: "promise"))
            _ = try step.send(.question(to: nil), then: Log.Silent())
        }
    }
}
