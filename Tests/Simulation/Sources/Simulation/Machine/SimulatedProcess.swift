import CSimulatedMachine
import KalijAddress
import KalijHandlers
import KalijRoles
import KalijStore

@testable import KalijClient

/// A process that drives the account: what `Engine` makes of its parts, over the simulated machine.
///
/// Killed in the middle of something, its code runs on until it returns, but nothing that it does reaches the disk or
/// the network any more; then it is buried.
final class SimulatedProcess {
    let number: Int
    unowned let world: World
    private(set) lazy var schedule = ProcessSchedule(self)
    /// Told once, after the process is gone.
    private let onEnd: (String) -> Void
    private var connections: [SimulatedConnection] = []
    private var context: DriverContext?
    private(set) var driver: AccountDriver?
    private var fence: Fence?
    private var database: Database?
    /// The connection on which it accepts what its own user says, as `Engine` has one.
    private var accepting: Database?
    private var isRunning = false
    private var isOver = false
    private var wantsToEnd: String?
    /// What came while it was frozen.
    private var waiting: [() -> Void] = []
    private(set) var isFrozen = false
    /// Turns after which it is killed.
    private var turnsLeft: Int?
    /// Called after it was killed in the middle of something, before anything else happens.
    var onDeath: (() -> Void)?
    private var isPowerLost = false

    init(number: Int, world: World, onEnd: @escaping (String) -> Void) {
        self.number = number
        self.world = world
        self.onEnd = onEnd
    }

    var isDead: Bool { isOver || machine_is_dead(Int32(number)) != 0 }
    private var id: Int32 { Int32(number) }

    // MARK: Life

    /// Takes over the directory and connects, as `Engine` does.
    func start(_ directory: AccountDirectory, timing: Timing, dial: @escaping () -> Link?) {
        perform { [self] in
            do {
                let driven = try directory.drive(role: .main, now: world.milliseconds)
                (database, fence) = (driven.database, driven.fence)
                let runner = StepRunner(
                    database: driven.database, fence: driven.fence, barrier: Barrier(driven.database),
                    clock: world.clock, known: try KnownHandlers([Asked.self, Rung.self]))
                let context = context(runner, timing, dial)
                self.context = context
                guard let account = try AccountTable(driven.database).all().first else { return end("no account") }
                let driver = AccountDriver(account, context: context, careful: driven.careful)
                self.driver = driver
                world.trace("   process \(number) drives\(driven.careful ? " with care" : "")")
                driver.connect()
                driver.queueChanged()
            } catch {
                end("cannot start: \(error)")
            }
        }
    }

    private func context(_ runner: StepRunner, _ timing: Timing, _ dial: @escaping () -> Link?) -> DriverContext {
        let world = world
        return DriverContext(
            loop: schedule, runner: runner, timing: timing,
            report: { [weak self] event in
                guard let self, !isDead else { return }
                if case .online(_, let resumed) = event.kind {
                    if resumed { world.counts.resumes += 1 } else { world.counts.binds += 1 }
                }
                world.trace("   \(number): \(event.kind)")
            },
            fatal: { [weak self] error in self?.end("\(error)") }, changed: {}, awaiter: PromiseAwaiter { _ in },
            random: { Double.random(in: 0..<1, using: &world.random) },
            connect: { [unowned self] _, events in
                let connection = SimulatedConnection(self, dial: dial, events)
                connections.append(connection)
                return connection
            })
    }

    /// Runs `body` as this process, once it is not frozen.
    func perform(_ body: @escaping () -> Void) {
        guard !isOver else { return }
        guard !isFrozen else { return waiting.append(body) }
        guard !isRunning else { return body() }
        if turnsLeft == 0 { return kill("between two turns") }
        turnsLeft = turnsLeft.map { $0 - 1 }
        isRunning = true
        machine_run_as(id)
        body()
        machine_run_as(0)
        isRunning = false
        if isDead { bury("killed at an operation") } else if let reason = wantsToEnd { kill(reason) }
    }

    // MARK: Death

    /// Gives up, when what it does now has returned.
    func end(_ reason: String) { wantsToEnd = wantsToEnd ?? reason }

    /// SIGKILL, now.
    func kill(_ reason: String) {
        guard !isOver else { return }
        machine_kill(id)
        if !isRunning { bury(reason) }
    }

    /// The machine is off: nobody is told.
    func losePower() {
        isPowerLost = true
        kill("the power failed")
    }

    /// SIGKILL after so many more operations on the disk.
    func kill(afterOperations operations: Int) { machine_kill_after(id, operations) }

    /// SIGKILL after so many more turns of its loop.
    func kill(afterTurns turns: Int) { turnsLeft = turns }

    private func bury(_ reason: String) {
        isOver = true
        world.trace("   process \(number) is gone: \(reason)")
        for connection in connections { connection.drop(silently: isPowerLost) }
        connections = []
        waiting = []
        schedule.clear()
        machine_run_as(id)
        (driver, context, fence) = (nil, nil, nil)
        (database, accepting) = (nil, nil)
        machine_run_as(0)
        let left = machine_bury(id)
        precondition(left == 0, "process \(number) leaves \(left) files open")
        onDeath?()
        onDeath = nil
        onEnd(reason)
    }

    // MARK: Freezing

    func freeze() { isFrozen = true }

    func thaw() {
        guard isFrozen, !isOver else { return }
        isFrozen = false
        let bodies = waiting
        waiting = []
        for body in bodies { perform(body) }
    }

    /// Ends as it does when it is told to: writes what is left, gives back the fence.
    func letGo() {
        perform { [self] in
            guard let driver else { return end("told to end") }
            driver.letGo { [weak self] in
                guard let self, let fence, let database else { return }
                if !driver.isCareful { try? fence.letGo(database) }
                end("told to end")
            }
        }
    }

    /// Whether something can be accepted in it now.
    var isAccepting: Bool { driver != nil && !isDead && !isFrozen && !isRunning }

    /// Runs `body` in this process, as its own user's wish.
    /// - Returns: whether it has returned and the process lives.
    func accept(in directory: AccountDirectory, _ body: @escaping (Database) throws -> Void) -> Bool {
        var isAccepted = false
        perform { [self] in
            do {
                let database = try accepting ?? Database(path: directory.databasePath, durability: .machine)
                accepting = database
                try body(database)
                isAccepted = !isDead
                schedule.enqueue { [weak self] in self?.driver?.queueChanged() }
            } catch {
                world.trace("   not accepted: \(error)")
            }
        }
        return isAccepted
    }

    /// Somebody has committed something.
    func ring() { perform { [weak self] in self?.driver?.queueChanged() } }
}
