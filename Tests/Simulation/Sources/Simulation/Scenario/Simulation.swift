import CSQLite
import CSimulatedMachine
import KalijAddress
import KalijCoordination
import KalijStore
import KalijStream

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An account, its server and its machine, and a plan of events.
public final class Simulation {
    let plan: Plan
    let world: World
    let server: SimulatedServer
    let directory: AccountDirectory
    let record = Record()
    /// The user's own process, if any.
    private(set) var main: SimulatedProcess?
    /// The other processes that drive, or wait for the fence.
    private(set) var others: [SimulatedProcess] = []
    var share: Share?
    private var processes = 1
    private(set) var isCalm = false
    /// Draws the failing outputs, and nothing else.
    private var outputs: Seeded
    var isAway = false
    private var areBellsPlanned = false
    /// How often a frozen process was thawed just after another process had taken over.
    var haunted = 0
    /// When a process was frozen last, in microseconds.
    var lastFreeze: Int64 = -1 << 50
    /// The simulation that is told of commits: simulations run one at a time.
    nonisolated(unsafe) static weak var current: Simulation?
    private(set) var account: Account?
    /// Violations found during the run.
    var violations: [Violation] = []

    init(_ plan: Plan, directory path: String, trace: ((String) -> Void)? = nil) {
        self.plan = plan
        world = World(seed: plan.seed, trace: trace)
        server = SimulatedServer(world, plan.profile)
        outputs = Seeded(~plan.seed)
        server.latency = plan.latency
        server.feature(SimulatedRegistration.self).password = Self.password
        directory = AccountDirectory(path)
        if plan.hasEncryption { server.omemo.begin(seed: plan.seed) }
        machine_install()
        machine_reset(plan.seed)
        machine_seed_randomness(plan.seed)
        server.login.isUndisturbed = { [weak self] in self?.isUndisturbed($0) ?? false }
        server.onResume = { [weak self] in self?.checkAcknowledged() }
        watchCommits()
    }

    /// The account's password at the beginning.
    private static let password = "secret"

    static var timing: Timing {
        var timing = Timing()
        timing.acknowledgement = 20
        timing.longestRetry = 20
        timing.longestStorageRetry = 5
        return timing
    }

    var living: [SimulatedProcess] { [main].compactMap { $0 } + others }

    /// A fresh number for a process; nil when there are none left.
    func nextProcess() -> Int? {
        guard processes < 8000 else { return nil }
        processes += 1
        return processes
    }

    // MARK: Running

    /// Performs the plan, and then lets everything come to rest.
    public func run() throws -> [Violation] {
        try prepare()
        startMain()
        for action in plan.actions { world.after(action.time) { [weak self] in self?.perform(action.kind) } }
        world.run(until: (plan.actions.last?.time ?? 0) + 2_000_000)
        calm()
        try rest()
        violations += try Oracle(self).check()
        if world.isTracing { try Oracle(self).reading { try server.omemo.trace($0) } }
        // Whoever puts an old disk back loses what came since; only encryption promises something then.
        if record.restores > 0 { violations.removeAll { $0.promise != .encryption } }
        clear()
        world.counts.kills = Int(machine_counts().kills)
        world.counts.powerFailures = Int(machine_counts().power_failures)
        world.counts.ioErrors = Int(machine_counts().failed)
        return violations
    }

    /// Logs in, before anything can go wrong. All simulations of the program copy the same files.
    private func prepare() throws {
        if machine_restore() == 0 {
            machine_run_as(1)
            try logIn()
            machine_run_as(0)
            machine_keep()
            machine_reset(plan.seed)
            machine_seed_randomness(plan.seed)
            _ = machine_restore()
        }
        if plan.hasEncryption {
            renewFile()
            if server.omemo.usesOMEMO2 { try useOMEMO2() }
        }
        world.run(until: 0)
        account = try Oracle(self).reading { try AccountTable($0).account(nil, in: directory) }
    }

    /// The clock that stores the account is fast. Messages soon afterwards are new all the same.
    private func logIn() throws {
        let fast = Clock(
            now: { World.begin + ProcessClock.error / 2 }, monotonic: { World.begin * 1_000_000 }, sinceBoot: { 0 },
            boot: { "0" })
        let database = try directory.open(.machine, role: .main, now: World.begin)
        try AccountTable(database).store(
            jid: try JID(server.account), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: Self.password), resource: "balcony",
            clock: fast)
        try database.execute(Calls.schema)
        _ = try Mailbox(directory: directory.path)
    }

    // MARK: Processes

    private func surroundings() -> Surroundings {
        Surroundings(
            world: world, directory: directory, timing: Self.timing, mainNotifies: plan.mainNotifies,
            dial: { [weak self] in self?.server.connect(process: $0) }, bells: { [weak self] in self?.planBells() },
            killWriter: { [weak self] in self?.killWriter(of: $0) ?? false },
            shown: { [weak self] in self?.shown($0) },
            outputFails: { [weak self] in self?.outputFails() ?? false }, told: { [weak self] in self?.told($0) },
            drives: { [weak self] in self?.began($0, $1) },
            wrote: { [weak self] in self?.wrote($1, $0) },
            left: { [weak self] in self?.server.omemo.left($0) },
            http: server.feature(SimulatedFiles.self).http, login: server.login)
    }

    func startMain() {
        guard main == nil, !isAway, let number = nextProcess() else { return }
        let process = SimulatedProcess(number: number, role: .main, surroundings()) { [weak self] end in
            guard let self, main?.number == number else { return }
            judge(end, of: main)
            main = nil
            if isCalm, case .failed(let error) = end, !(error is FenceError) { return startMainLater() }
            startMainSoon()
        }
        main = process
        process.start()
    }

    func startMainSoon() {
        world.after(world.random.pick(5000...1_500_000)) { [weak self] in self?.startMain() }
    }

    /// Nothing goes wrong any more, and the login was refused. Thousands of starts show no more than a few.
    private func startMainLater() { world.after(60_000_000) { [weak self] in self?.startMain() } }

    /// - Parameter prepare: called before the process runs.
    func startOther(_ role: Role, prepare: (SimulatedProcess) -> Void = { _ in }) {
        guard let number = nextProcess() else { return }
        if role == .wake { world.counts.wakes += 1 } else { world.counts.backgrounds += 1 }
        let process = SimulatedProcess(number: number, role: role, surroundings()) { [weak self] end in
            guard let self, let index = others.firstIndex(where: { $0.number == number }) else { return }
            judge(end, of: others.remove(at: index))
            ended(role, end)
        }
        others.append(process)
        prepare(process)
        process.start()
    }

    private func ended(_ role: Role, _ end: SimulatedProcess.End) {
        switch end {
        case .handedOver: world.counts.pushesHandedOver += 1
        case .failed(FenceError.stale) where role == .wake:
            // The process was frozen, and another process drives: the driver is told of the push.
            world.after(1000) { [weak self] in self?.startOther(.wake) }
        case .ended(.unfinished) where role == .wake && !isCalm:
            world.after(1_000_000) { [weak self] in self?.startOther(.background) }
        default: break
        }
    }

    /// Whether a process lives, was not frozen, had no failing disk, and nobody could keep it from writing.
    private func isUndisturbed(_ number: Int) -> Bool {
        guard let process = living.first(where: { $0.number == number }) else { return false }
        return machine_failed_at(Int32(number)) == 0 && process.frozenAt < 0 && process.overtaken == nil
            && world.now - lastFreeze > 60_000_000
    }

    // MARK: Bells

    func planBells() {
        guard !areBellsPlanned else { return }
        areBellsPlanned = true
        world.after(world.random.pick(20...500)) { [weak self] in
            guard let self else { return }
            areBellsPlanned = false
            var hasHeard = false
            for process in living where process.hear() { hasHeard = true }
            if hasHeard { planBells() }
        }
    }

    // MARK: Rest

    /// From now on nothing goes wrong any more.
    private func calm() {
        isCalm = true
        isAway = false
        server.feature(SimulatedMUC.self).isCalm = true
        server.login.isCalm = true
        server.feature(SimulatedFiles.self).http.isCalm = true
        world.trace("=== calm")
        for process in living { machine_fail(Int32(process.number), 0, 0, 0, 0) }
        for process in living { process.thaw() }
        startMain()
        if plan.hasEncryption { talkAgain() }
    }

    /// Waits until everything is as promised and nothing moves, or for half an hour; twice, with a new process in between.
    private func rest() throws {
        // Long enough for every callback that waits for a time or an answer.
        world.run(until: world.now + 70_000_000)
        for process in others {
            violations.append(Violation(.roles, "\(process.name) does not come to its end"))
        }
        for round in 0..<2 {
            let end = world.now + 1_800_000_000
            var quiet = 0
            repeat {
                let before = server.activity
                world.run(until: world.now + 12_000_000)
                guard before == server.activity, main?.isOnline ?? false else { continue }
                quiet += 1
                // The next reading of the archive finds messages that were archived and never delivered: the reading by the other
                // process.
                if round == 0 ? quiet == 2 : try Oracle(self).check().isEmpty { break }
            } while world.now < end
            if round == 0 {
                world.trace("=== another process")
                main?.kill("to let another one look")
                // A stanza was set aside if three processes were killed at the stanza: the user has such a stanza tried again.
                _ = try Oracle(self).reading { try Quarantine($0).retry() }
                world.run(until: world.now + 2_000_000)
            }
        }
    }

    private func clear() {
        isAway = true
        for process in living { process.kill("the end") }
        endShare()
    }

    /// Whatever was acknowledged or accepted is there.
    func checkAcknowledged() {
        do { violations += try Oracle(self).checkAcknowledged() } catch {
            violations.append(Violation(.promise1, "the database cannot be read: \(error)"))
        }
    }

    /// Not in the calm.
    private func outputFails() -> Bool {
        guard !isCalm, outputs.chance(plan.failingOutputs) else { return false }
        world.counts.failedOutputs += 1
        return true
    }

    private func told(_ event: EngineEvent) { record.tell(event) { violations.append($0) } }

    private func shown(_ notification: Notification) {
        world.counts.notifications += 1
        record.show(notification) { violations.append($0) }
        if notification.kind == .show, record.shown[notification.body]?.count ?? 0 > 1 { world.counts.repeated += 1 }
        if notification.kind == .withdraw { world.counts.withdrawn += 1 }
    }
}
