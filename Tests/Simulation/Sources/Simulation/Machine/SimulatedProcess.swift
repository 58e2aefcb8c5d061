import CSimulatedMachine
import KalijHandlers
import KalijCoordination
import KalijStore
import KalijTransport

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A notification could not be shown.
struct OutputFailed: Error {}

/// A process that drives the account, or is about to: the engine itself, over the simulated machine.
///
/// After a kill in the middle of a call, the code runs on until the call returns, but nothing reaches the disk or the network any
/// more. Then the process is buried.
final class SimulatedProcess {
    /// The cause of the end.
    enum End {
        case killed
        /// By itself, or told to end.
        case ended(Engine.Ending)
        /// Another process has taken the push.
        case handedOver
        case failed(any Error)
    }

    let number: Int
    let role: Role
    /// Off, and set now and then.
    let clock: Clock
    let surroundings: Surroundings
    var world: World { surroundings.world }
    private(set) lazy var schedule = ProcessSchedule(self)
    /// Told once, after the process is gone.
    private let onEnd: (End) -> Void
    private var connections: [SimulatedConnection] = []
    private var taking: DriverTakeover?
    var question: DriverTakeover.HandOverRequest?
    private(set) var engine: Engine?
    /// The connection for the wishes of the process's own user, as in `Engine`.
    var accepting: Database?
    /// Whether the present commits are the user's wish.
    var isAcceptingNow = false
    var isRunning = false
    /// The number of the fence; 0 before the process drives.
    private(set) var fence: Int64 = 0
    /// Set once another process has raised the fence over this process.
    var overtaken: Overtaken?
    /// Whether the process was overtaken before the present turn began, so that the turn could notice.
    private(set) var hasBegunOvertaken = false
    /// Whether the process dies when about to show the next notification.
    private var diesShowing = false
    var isOver = false
    private var wantsToEnd: End?
    /// Work that came while the process was frozen.
    private var waiting: [() -> Void] = []
    private(set) var isFrozen = false
    /// The interrupted call, if the process was frozen within a call.
    private var task: OpaquePointer?
    private var isFreezeArmed = false
    /// Called when the process was frozen within a call.
    private var onFreeze: () -> Void = {}
    /// The last time of a freeze or a disturbance.
    var disturbedAt: Int64 { max(frozenAt, (machine_failed_at(id) - World.begin) * 1000) }
    var frozenAt: Int64 = -1 << 50
    /// When another process was last frozen in the mailbox. Whoever writes to the mailbox would kill the frozen process, but this
    /// kill is not simulated.
    var heldUpAt: Int64 = -1 << 50
    /// Turns before the process is killed.
    private var turnsLeft: Int?
    /// Called after a kill in the middle of a call, before anything else happens.
    var onDeath: (() -> Void)?
    private var isPowerLost = false
    /// When the system ends the process, for a `wake`.
    private var alarmAt: Int64 = .max
    private var isAlarmed = false

    init(number: Int, role: Role, _ surroundings: Surroundings, onEnd: @escaping (End) -> Void) {
        self.number = number
        self.role = role
        clock = surroundings.world.clock(of: number)
        self.surroundings = surroundings
        self.onEnd = onEnd
    }

    var isDead: Bool { isOver || machine_is_dead(Int32(number)) != 0 }
    var name: String { "\(role.rawValue) \(number)" }
    var isOnline: Bool { engine?.drivers.values.first?.stage.session != nil }
    private var id: Int32 { Int32(number) }

    /// Whether the process came to drive.
    private(set) var hasDriven = false
    /// Whether the system had to end the process although nothing had frozen or disturbed the process during its budget.
    private(set) var hasOutlivedItsBudget = false

    // MARK: Life

    /// Takes over the directory and connects.
    func start() {
        if role == .wake { setAlarm() }
        taking = DriverTakeover(
            directory: surroundings.directory, role: role, clock: clock,
            killWriter: { [surroundings] path, _ in surroundings.killWriter(path) })
        takeOver()
    }

    private func takeOver() {
        perform { [self] in
            attempt {
                guard var taking else { return }
                let turn = try taking.turn()
                self.taking = taking
                switch turn {
                case .driven(let driven): try drive(driven)
                // A real process looks a hundred times a second.
                case .pause: schedule.schedule(after: 0.1) { [weak self] in self?.takeOver() }
                // SQLite has waited a second, on a clock that stands still here.
                case .retry: schedule.schedule(after: 1) { [weak self] in self?.takeOver() }
                case .request(let question): ask(question)
                }
            }
        }
    }

    private func ask(_ question: DriverTakeover.HandOverRequest) {
        world.trace("   \(name) asks \(question.owner.role.rawValue)")
        self.question = question
        question.sent.bell.ring()
        surroundings.bells()
        schedule.schedule(after: question.seconds) { [weak self] in self?.answered(question.sent.id) }
    }

    /// The owner has hung up, or the time is over.
    func answered(_ id: Int64) {
        guard let question, question.sent.id == id else { return }
        self.question = nil
        attempt {
            try taking?.answered(question)
            takeOver()
        }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch EngineError.handedOver {
            end(.handedOver)
        } catch {
            world.trace("   \(name) cannot drive: \(error)")
            end(.failed(error))
        }
    }

    private func drive(_ driven: DriverTakeover.Driven) throws {
        let begin = taking?.begin ?? clock.monotonic()
        taking = nil
        fence = driven.fence.owner.number
        surroundings.drives(self, driven.database)
        hasDriven = true
        world.trace("   \(name) drives, fence \(driven.fence.owner.number)\(driven.careful ? " with care" : "")")
        let world = world
        let engine = try Engine(
            surroundings.directory, options: options, clock: clock, since: begin,
            features: try Features([Calls.self]),
            loop: try Self.unused(),
            environment: Environment(
                loop: schedule, random: { Double.random(in: 0..<1, using: &world.random) },
                connect: { [unowned self] _, _, events in
                    let connection = SimulatedConnection(self, dial: surroundings.dial, events)
                    connections.append(connection)
                    return connection
                },
                killWriter: { [surroundings] in _ = surroundings.killWriter($0) }, resources: resources),
            driven: driven, onEvent: { [weak self] in self?.saw($0) })
        self.engine = engine
        try engine.begin()
    }

    private var resources: ServiceResources {
        var resources = ServiceResources()
        resources[FileEnvironment.self] = files
        return resources
    }

    private var files: FileEnvironment {
        let transport = SimulatedTransport(surroundings.http, schedule) { [weak self] in self?.isDead ?? true }
        return FileEnvironment(transport: transport) { path, _ in
            // The name of a simulated file says its size.
            SimulatedBody(path.split(separator: "-").last.flatMap { Int64($0) } ?? 0)
        }
    }

    /// The system's loop. Nothing turns the loop here.
    private static func unused() throws -> EventLoop {
        if let loop { return loop }
        let made = try EventLoop()
        loop = made
        return made
    }

    nonisolated(unsafe) private static var loop: EventLoop?  // One thread runs at a time.

    private var options: Engine.Options {
        var options = Engine.Options(role: role, timing: surroundings.timing)
        options.budget = role == .wake ? Self.budget - 0.2 : role == .background ? 600 : nil
        options.notifies = role != .main || surroundings.mainNotifies
        options.onNotification = { [weak self] notification in
            guard let self, !isDead else { return }
            if diesShowing { return machine_kill(id) }
            if surroundings.outputFails() {
                world.trace("   \(name) cannot show \(notification.kind) \(notification.body)")
                throw OutputFailed()
            }
            world.trace("   \(name) shows: \(notification.kind) \(notification.identifier) \(notification.body)")
            surroundings.shown(notification)
        }
        options.onRenewal = { [weak self] in self?.setAlarm() }
        return options
    }

    private func saw(_ event: EngineEvent) {
        guard !isDead else { return }
        if let resumed = (event.content as? Online)?.resumed {
            if resumed { world.counts.resumes += 1 } else { world.counts.binds += 1 }
        }
        if event.content is Online { connections.last?.isInSession() }
        world.trace("   \(number): \(event.number.map { "\($0) " } ?? "")\(event.content)")
        surroundings.told(event)
    }

    /// The engine has come to its end.
    func engineStopped() {
        guard let engine, !isDead else { return }
        do { end(.ended(try engine.over())) } catch { end(.failed(error)) }
    }

    /// Runs `body` as this process, after the thaw if the process is frozen.
    func perform(_ body: @escaping () -> Void) {
        guard !isOver else { return }
        guard !isFrozen else { return waiting.append(body) }
        guard !isRunning else { return body() }
        if turnsLeft == 0 { return kill("between two turns") }
        turnsLeft = turnsLeft.map { $0 - 1 }
        isRunning = true
        hasBegunOvertaken = overtaken != nil
        machine_run_as(id)
        if isFreezeArmed {
            task = Self.run(body)
            guard task == nil else { return stoodStill() }
        } else {
            body()
        }
        finishTurn()
    }

    private func finishTurn() {
        machine_run_as(0)
        isRunning = false
        if isDead { bury("killed at an operation", .killed) } else if let end = wantsToEnd { kill("\(end)", end) }
    }

    // MARK: The alarm of a wake

    private static let budget = 25.0

    private func setAlarm() {
        alarmAt = world.now + Int64(Self.budget * 1_000_000)
        let time = alarmAt
        world.after(time - world.now) { [weak self] in
            guard let self, !isDead, alarmAt == time else { return }
            if isFrozen { isAlarmed = true } else { alarm() }
        }
    }

    private func alarm() {
        hasOutlivedItsBudget = world.now - disturbedAt > Int64(Self.budget * 1_000_000)
        kill("its budget is used up")
    }

    // MARK: Death

    /// Ends after the present work has returned.
    func end(_ end: End) { wantsToEnd = wantsToEnd ?? end }

    /// SIGKILL, now.
    func kill(_ reason: String, _ end: End = .killed) {
        guard !isOver else { return }
        machine_kill(id)
        if let task {
            self.task = nil
            // The call runs on until it returns, without effect.
            machine_task_finish(task)
            isRunning = false
        }
        if !isRunning { bury(reason, end) }
    }

    /// The machine is off: nobody is told.
    func losePower() {
        isPowerLost = true
        kill("the power failed")
    }

    /// SIGKILL after so many more operations on the disk.
    func kill(afterOperations operations: Int) { machine_kill_after(id, operations) }

    /// SIGKILL when about to show a notification.
    func killShowing() { diesShowing = true }

    /// SIGKILL after so many more turns of the loop.
    func kill(afterTurns turns: Int) { turnsLeft = turns }

    private func bury(_ reason: String, _ end: End) {
        isOver = true
        isFrozen = false
        world.trace("   \(name) is gone: \(reason)")
        for connection in connections { connection.drop(silently: isPowerLost) }
        connections = []
        waiting = []
        schedule.clear()
        machine_run_as(id)
        (engine, taking, question, accepting) = (nil, nil, nil, nil)
        machine_run_as(0)
        let left = machine_bury(id)
        precondition(left == 0, "process \(number) leaves \(left) files open")
        onDeath?()
        onDeath = nil
        surroundings.bells()
        onEnd(end)
    }

    // MARK: Freezing

    func freeze() {
        isFrozen = true
        frozenAt = world.now
    }

    /// Freezes the process within a call, after so many more operations on the disk; with a database's path, within the next
    /// transaction in the database.
    func freeze(afterOperations operations: Int, within path: String?, _ frozen: @escaping () -> Void) {
        isFreezeArmed = true
        onFreeze = frozen
        machine_freeze_after(id, operations, path)
    }

    private func stoodStill() {
        machine_run_as(0)
        isFreezeArmed = false
        world.trace("   \(name) is frozen within a call")
        freeze()
        onFreeze()
    }

    /// Runs `body` as a task that can be frozen.
    /// - Returns: the frozen task; nil if `body` has returned.
    private static func run(_ body: @escaping () -> Void) -> OpaquePointer? {
        // The task lets go of the box, and runs once.
        machine_task_start(
            { context in
                guard let context else { return }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            }, Unmanaged.passRetained(Body(body)).toOpaque())
    }

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    func thaw() {
        guard isFrozen, !isOver else { return }
        isFrozen = false
        frozenAt = world.now
        if let task {
            self.task = nil
            machine_task_finish(task)
            finishTurn()
        }
        guard !isOver else { return }
        if isAlarmed { return kill("its budget is used up") }
        // Of the events that are ready, any may be seen first.
        if world.random.chance(30) { _ = hear() } else { surroundings.bells() }
        if world.random.chance(50) { perform { [weak self] in self?.engine?.didThaw() } }
        let bodies = waiting
        waiting = []
        for body in bodies { perform(body) }
    }
}
