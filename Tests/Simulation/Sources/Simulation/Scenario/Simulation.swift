import CSQLite
import CSimulatedMachine
import KalijAddress
import KalijRoles
import KalijStore
import KalijStream
import KalijXML

@testable import KalijClient

/// One account, its server and its machine, and what happens to them according to a plan.
public final class Simulation {
    let plan: Plan
    let world: World
    let server: SimulatedServer
    let directory: AccountDirectory
    let record: Record
    private(set) var process: SimulatedProcess?
    private var processes = 1
    /// Others that still hold on, frozen.
    private var frozen: [SimulatedProcess] = []
    private var isCalm = false
    private var startsPlanned = 0
    private var account: Account?
    /// Found while it went on.
    var violations: [Violation] = []

    init(_ plan: Plan, directory path: String, trace: ((String) -> Void)? = nil) {
        self.plan = plan
        world = World(seed: plan.seed, trace: trace)
        server = SimulatedServer(world, plan.profile)
        server.latency = plan.latency
        directory = AccountDirectory(path)
        record = Record()
        machine_install()
        machine_reset(plan.seed)
        machine_seed_randomness(plan.seed)
        world.after(0) {}
        world.run(until: 0)
    }

    static var timing: Timing {
        var timing = Timing()
        timing.acknowledgement = 20
        timing.longestRetry = 20
        timing.longestStorageRetry = 5
        return timing
    }

    // MARK: Running

    /// Does what is planned, and then lets everything come to rest.
    public func run() throws -> [Violation] {
        try logIn()
        start()
        for action in plan.actions { world.after(action.time) { [weak self] in self?.perform(action.kind) } }
        world.run(until: (plan.actions.last?.time ?? 0) + 2_000_000)
        calm()
        try rest()
        violations += try Oracle(self).check()
        clear()
        world.counts.kills = Int(machine_counts().kills)
        world.counts.powerFailures = Int(machine_counts().power_failures)
        world.counts.ioErrors = Int(machine_counts().failed)
        return violations
    }

    private func logIn() throws {
        machine_run_as(1)
        let database = try directory.open(.machine, role: .main, now: world.milliseconds)
        try AccountTable(database).store(
            jid: try JID(server.account), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "balcony",
            now: world.milliseconds)
        account = try AccountTable(database).account(nil, in: directory)
        try database.execute(Calls.schema)
        machine_run_as(0)
    }

    private func start() {
        guard process == nil, processes < 8000 else { return }
        processes += 1
        let number = processes
        let process = SimulatedProcess(number: number, world: world) { [weak self] _ in self?.ended(number) }
        server.onResume = { [weak self] in self?.checkAcknowledged() }
        self.process = process
        process.start(directory, timing: Self.timing) { [weak self] in self?.server.connect() }
    }

    private func ended(_ number: Int) {
        // One over whose head another has taken over is not replaced.
        guard process?.number == number else { return }
        process = nil
        startSoon()
    }

    private func startSoon() {
        world.after(world.random.pick(5000...1_500_000)) { [weak self] in self?.start() }
    }

    // MARK: Rest

    /// From now on nothing goes wrong any more.
    private func calm() {
        isCalm = true
        world.trace("=== calm")
        for process in frozen + [process].compactMap({ $0 }) { process.thaw() }
        if let process { machine_fail(Int32(process.number), 0, 0, 0, 0) }
    }

    /// Waits until everything is as promised and nothing moves, or for half an hour; twice, with a new process in between.
    private func rest() throws {
        // Long enough for every callback that waits for a time or an answer.
        world.run(until: world.now + 70_000_000)
        // Those over whose heads another one has taken over have had the time to notice.
        for process in frozen { process.kill("somebody else drives") }
        frozen = []
        for round in 0..<2 {
            let end = world.now + 1_800_000_000
            repeat {
                let before = server.activity
                world.run(until: world.now + 12_000_000)
                if before == server.activity, process?.driver?.isOnline ?? false, try Oracle(self).check().isEmpty {
                    break
                }
            } while world.now < end
            if round == 0 {
                world.trace("=== another process")
                process?.kill("to let another one look")
                world.run(until: world.now + 2_000_000)
            }
        }
    }

    private func clear() {
        let last = process
        process = nil
        for process in frozen + [last].compactMap({ $0 }) { process.kill("the end") }
        process = nil
    }

    // MARK: Actions

    private func perform(_ kind: Plan.Kind) {
        if kind.isFault { world.trace("*** \(kind)") }
        switch kind {
        case .incoming(let number, let contact): server.receive("in-\(number)", from: Self.contacts[contact])
        case .elsewhere(let number): server.receive("own-\(number)", from: server.account + "/phone")
        case .hidden(let number): server.receive("hidden-\(number)", from: Self.contacts[0], isHidden: true)
        case .accept(let number, let contact, let operations): accept(number, contact, operations)
        case .ask(let number, let answer, let patience): ask(number, answer, patience)
        case .timer(let number, let seconds): setTimer(number, seconds)
        case .kill(let operations, let turns): kill(operations, turns)
        case .replace: process?.letGo()
        case .freeze(let milliseconds, let isReplaced): freeze(milliseconds, isReplaced)
        case .cut(let silently):
            world.counts.cuts += 1
            server.cut(silently: silently)
        case .powerFailure(let operations): powerFailure(operations)
        case .ioErrors(let mask, let after, let count, let isFull):
            guard let process else { return }
            machine_fail(Int32(process.number), Int32(mask), after, count, isFull ? SQLITE_FULL : SQLITE_IOERR)
        case .restartServer(let milliseconds):
            world.counts.restarts += 1
            server.restart(after: Int64(milliseconds) * 1000)
        case .expire: expire()
        case .expireArchive(let percent): server.expireArchive(percent: percent)
        }
    }

    private static let contacts = [
        "romeo@example.net/orchard", "nurse@example.net/kitchen", "tybalt@example.com/street",
        SimulatedServer.nobody,
    ]

    private func kill(_ operations: Int?, _ turns: Int) {
        guard let process else { return }
        if let operations { process.kill(afterOperations: operations) } else { process.kill(afterTurns: turns) }
    }

    private func freeze(_ milliseconds: Int, _ isReplaced: Bool) {
        guard let process, !process.isFrozen else { return }
        world.counts.freezes += 1
        process.freeze()
        world.after(Int64(milliseconds) * 1000) { [weak process] in process?.thaw() }
        guard isReplaced else { return }
        world.counts.takeovers += 1
        frozen.append(process)
        self.process = nil
        // Its lock goes with the file: another process raises the fence over its head.
        directory.removeLockFile()
        startSoon()
    }

    private func expire() {
        process?.kill("before its session expires")
        world.after(4000) { [weak self] in
            guard let self, server.expire() else { return }
            world.counts.expiries += 1
        }
    }

    private func powerFailure(_ operations: Int?) {
        if let operations, let process {
            // In the middle of something: the process dies of it first, unnoticed.
            process.kill(afterOperations: operations)
            process.onDeath = { [weak self] in self?.failPower() }
            // If it does not do that much, now and then it fails all the same.
            world.after(3_000_000) { [weak self, weak process] in
                guard let process, process.onDeath != nil else { return }
                self?.failPower()
            }
        } else {
            failPower()
        }
    }

    private func failPower() {
        world.trace("*** the power fails")
        process?.onDeath = nil
        let all = frozen + [process].compactMap { $0 }
        frozen = []
        for process in all { process.losePower() }
        machine_power_failure(world.random.next())
        checkAcknowledged()
    }

    /// Whatever was acknowledged or accepted is there.
    private func checkAcknowledged() {
        do { violations += try Oracle(self).checkAcknowledged() } catch {
            violations.append(Violation(.promise1, "the database cannot be read: \(error)"))
        }
    }

    // MARK: What the user does

    /// Runs `body` as a process of its own, which may be killed, or in the one that drives.
    /// - Returns: whether `body` has returned in the living process.
    private func accept(operations: Int?, _ body: @escaping (Database) throws -> Void) -> Bool {
        if operations == nil, let process, process.isAccepting, world.random.chance(70) {
            return process.accept(in: directory, body)
        }
        defer { process?.ring() }
        processes += 1
        let id = Int32(processes)
        defer {
            _ = machine_bury(id)
            machine_run_as(0)
        }
        machine_run_as(id)
        if let operations { machine_kill_after(id, operations) }
        do {
            try body(try Database(path: directory.databasePath, durability: .machine))
        } catch {
            world.trace("   not accepted: \(error)")
            machine_kill(id)
            return false
        }
        return machine_is_dead(id) == 0
    }

    private func accept(_ number: Int, _ contact: Int, _ operations: Int?) {
        guard let account else { return }
        let body = "out-\(number)"
        let isAccepted = accept(operations: operations) { [world] database in
            let recipient = try JID(Self.contacts[contact]).bare
            _ = try Outgoing.accept(body, to: recipient, of: account, in: database, now: world.milliseconds)
        }
        world.trace("   \(body) is \(isAccepted ? "accepted" : "perhaps accepted")")
        if isAccepted { record.accepted.append(body) }
    }

    private func ask(_ number: Int, _ answer: Int?, _ patience: Int) {
        guard let account else { return }
        world.counts.stanzas += 1
        var payload: [String: String] = [:]
        payload["answer"] = answer.map { "\($0)" }
        let request = Element(
            "iq", xmlns: "jabber:client", attributes: ["type": "get", "to": Self.contacts[0]],
            children: [Element("query", xmlns: "urn:x-simulated", attributes: payload)])
        let isAccepted = accept(operations: nil) { [world] database in
            try Step.accept(for: account, in: database, now: world.milliseconds) { step in
                _ = try step.send(request, then: Asked(number: number), within: .seconds(patience))
            }
        }
        if isAccepted { record.waiting.insert(number) }
    }

    private func setTimer(_ number: Int, _ seconds: Int) {
        guard let account else { return }
        let isAccepted = accept(operations: nil) { [world] database in
            try Step.accept(for: account, in: database, now: world.milliseconds) { step in
                _ = try step.schedule(Rung(number: number), at: world.milliseconds + Int64(seconds) * 1000)
            }
        }
        if isAccepted { record.waiting.insert(number) }
    }
}

/// What was promised to the user and the application.
final class Record {
    /// Messages, in their order.
    var accepted: [String] = []
    /// Callbacks.
    var waiting: Set<Int> = []
}
