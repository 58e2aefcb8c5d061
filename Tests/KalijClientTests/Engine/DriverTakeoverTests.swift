import KalijCoordination
import KalijStore
import KalijTransport
import Synchronization
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, roles 3 and 8: the owner is asked, and given up only if it does not answer within five seconds.
@Suite struct DriverTakeoverTests {
    private final class Time: Sendable {
        private let nanoseconds = Mutex<Int64>(0)
        func pass(seconds: Int64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
        var clock: Clock { Clock(now: { 1 }, monotonic: { self.nanoseconds.withLock { $0 } }) }
    }

    private let scratch: ScratchDirectory
    private let time = Time()
    private let directory: AccountDirectory

    init() throws {
        scratch = try ScratchDirectory()
        directory = AccountDirectory(scratch.path)
    }

    private func waits(_ turn: DriverTakeover.Turn) -> Bool { if case .pause = turn { true } else { false } }
    private func drives(_ turn: DriverTakeover.Turn) -> Bool { if case .driven = turn { true } else { false } }

    @Test("an owner that does not answer within five seconds is overtaken, and its next step is refused")
    func givenUp() throws {
        let owner = try directory.drive(role: .main, now: 1)
        var taking = DriverTakeover(directory: directory, role: .wake, clock: time.clock)
        #expect(waits(try taking.turn()))
        time.pass(seconds: 4)
        #expect(waits(try taking.turn()))
        try owner.fence.check(owner.database)
        time.pass(seconds: 2)
        #expect(drives(try taking.turn()))
        #expect(time.clock.monotonic() - taking.begin == 6_000_000_000, "the wait is a part of the budget")
        #expect(throws: FenceError.self) { try owner.fence.check(owner.database) }
    }

    @Test("an owner that came during the wait for another owner has five seconds of its own (simulation, seed 26)")
    func another() throws {
        let first = try directory.drive(role: .main, now: 1)
        var taking = DriverTakeover(directory: directory, role: .wake, clock: time.clock)
        #expect(waits(try taking.turn()))
        time.pass(seconds: 6)
        try first.fence.letGo(first.database)
        let second = try directory.drive(role: .main, now: 2)
        #expect(waits(try taking.turn()))
        time.pass(seconds: 4)
        #expect(waits(try taking.turn()))
        try second.fence.check(second.database)
        time.pass(seconds: 2)
        #expect(drives(try taking.turn()))
    }

    @Test(
        "an owner that cannot be asked, because a process is frozen in the mailbox, is asked afterwards (simulation, seed 22946)"
    )
    func askedAfterwards() throws {
        let owner = try directory.drive(role: .main, now: 1)
        let mailbox = try directory.mailbox()
        let listener = try Doorbell.Listener(directory: scratch.path)
        try mailbox.announce(.driver, number: owner.fence.owner.number)
        let frozen = try Database(path: Mailbox.databasePath(in: scratch.path), durability: .process)
        try frozen.execute("BEGIN IMMEDIATE")
        var taking = DriverTakeover(directory: directory, role: .wake, clock: time.clock) { _, _ in
            (try? frozen.execute("ROLLBACK")) != nil
        }
        #expect(waits(try taking.turn()))
        time.pass(seconds: 6)
        guard case .request(let question) = try taking.turn() else {
            Issue.record("given up, though it was not asked")
            return
        }
        #expect(question.owner == owner.fence.owner && question.seconds > 4)
        #expect(
            try mailbox.receive(.driver, as: owner.fence.owner.number, now: 1).map(\.name) == [
                MailboxRequest.pushArrived.name
            ])
        withExtendedLifetime(listener) {}
    }

    @Test("a process that was overtaken before it listens does not take the driver's bell (simulation, seed 17116)")
    func bell() throws {
        let stale = try directory.drive(role: .wake, now: 1)
        let driver = try directory.drive(role: .main, now: 2, over: stale.fence.owner)
        let loop = try EventLoop()
        let watch = try DoorbellListener(directory, of: driver.fence, in: driver.database, loop: loop)
        #expect(throws: FenceError.self) {
            try DoorbellListener(directory, of: stale.fence, in: stale.database, loop: loop)
        }
        var hasRung = false
        watch.onRing = {
            hasRung = true
            loop.stop()
        }
        Doorbell.bell(directory: scratch.path)?.ring()
        let patience = loop.schedule(after: hangLimit) { loop.stop() }
        loop.run()
        patience.cancel()
        #expect(hasRung)
    }

    @Test("a process that is frozen within a write to the mailbox is killed (simulation, seed 334)")
    func frozenInTheMailbox() throws {
        _ = try Mailbox(directory: scratch.path)
        let path = Mailbox.databasePath(in: scratch.path)
        let frozen = try Database(path: path, durability: .process)
        try frozen.execute("BEGIN IMMEDIATE")
        var killed: [String] = []
        var taking = DriverTakeover(directory: directory, role: .wake, clock: time.clock) { path, _ in
            killed.append(path)
            return (try? frozen.execute("ROLLBACK")) != nil
        }
        #expect(drives(try taking.turn()))
        #expect(killed == [path])
    }

    @Test("a process that is frozen while opening or closing the mailbox is killed (simulation, seed 10736)")
    func frozenOpeningTheMailbox() throws {
        _ = try Mailbox(directory: scratch.path)
        let path = Mailbox.databasePath(in: scratch.path)
        var frozen: Database? = try Database(path: path, durability: .process)
        try frozen?.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE")
        var taking = DriverTakeover(directory: directory, role: .wake, clock: time.clock) { killed, _ in
            guard killed == path, frozen != nil else { return false }
            frozen = nil
            return true
        }
        for _ in 0..<10 where frozen != nil {
            #expect(!drives(try taking.turn()))
            time.pass(seconds: 6)
        }
        #expect(drives(try taking.turn()))
    }
}
