import CSimulatedMachine
import KalijRoles
import KalijStore

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// What became of a process over whose head another one has raised the fence.
struct Overtaken {
    /// Who did.
    let driver: String
    /// What was queued then: of that it may write, as its last word, what it had begun to; nil if that could not be read.
    let queued: Set<[UInt8]>?
}

/// What the processes of a directory do to one another, and whether this is as `Documentation/Rules.md` says.
extension Simulation {
    /// How a process came to its end must be as its role says.
    func judge(_ end: SimulatedProcess.End, of process: SimulatedProcess?) {
        guard let process else { return }
        if process.hasOutlivedItsBudget {
            violations.append(Violation(.roles, "\(process.name) did not end within its budget"))
        }
        // One that drives may fail at letting go, while somebody is frozen within a transaction: as if it were killed.
        guard case .failed(let error) = end, process.role == .wake, !process.hasDriven,
            world.now - process.disturbedAt > 30_000_000
        else {
            return
        }
        if error is FenceError { return }
        violations.append(Violation(.roles, "the push of \(process.name) is not served: \(error)"))
    }

    /// A process has taken the fence.
    func began(_ process: SimulatedProcess, _ database: Database) {
        let drove = living.filter { $0 !== process && $0.engine != nil && !$0.isDead && $0.overtaken == nil }
        overtake(with: process, database)
        for other in drove {
            world.trace("   \(process.name) takes over from \(other.name)")
            world.counts.takeovers += 1
            if other.isFrozen, !isCalm, world.random.chance(60) { thawSoon(other) }
            // One that was frozen while it waited has seen the time pass, and gone by it.
            let disturbedAt = max(other.disturbedAt, process.disturbedAt)
            if !other.isFrozen, world.now - disturbedAt > 10_000_000, world.now - other.heldUpAt > 20_000_000 {
                violations.append(Violation(.roles, "\(process.name) takes over from \(other.name), which lives"))
            }
        }
    }

    /// Kills who is frozen in the middle of a transaction, as the system does for a process that may.
    func killWriter(of path: String) -> Bool {
        let writer = Int(machine_writer(path))
        guard let process = living.first(where: { $0.number == writer }), process.isFrozen else { return false }
        world.counts.writersKilled += 1
        // The one that asks goes on running afterwards.
        let asking = machine_running()
        process.kill("it is frozen within a transaction")
        machine_run_as(asking)
        return true
    }

    // MARK: Stale owners

    /// Whoever drives under a lower number is overtaken; the process itself, if it was frozen since it took the fence.
    private func overtake(with process: SimulatedProcess, _ database: Database) {
        for other in living where other !== process && other.fence > 0 && !other.isDead {
            let (stale, driver) = other.fence < process.fence ? (other, process) : (process, other)
            guard stale.overtaken == nil else { continue }
            stale.overtaken = Overtaken(
                driver: driver.name,
                queued: try? Set(database.prepare("SELECT stanza FROM queue").all { $0.blob() }))
        }
    }

    /// It goes on just when the other one has begun, and something is queued meanwhile.
    private func thawSoon(_ process: SimulatedProcess) {
        let time = world.random.pick(0...2_000_000)
        haunted += 1
        let number = 20_000 + haunted * 2
        world.after(Int64(world.random.pick(0...time))) { [weak self] in
            guard let self, !isCalm else { return }
            accept(number, 0, nil)
            ask(number + 1, 500, 30)
        }
        world.after(Int64(time)) { [weak process] in process?.thaw() }
    }

    /// Each commit of each process is looked at.
    func watchCommits() {
        Self.current = self
        machine_on_commit { process in Simulation.current?.committed(Int(process)) }
    }

    /// No step of a stale owner commits.
    private func committed(_ number: Int) {
        guard let process = living.first(where: { $0.number == number }), let overtaken = process.overtaken,
            !process.isAcceptingNow
        else { return }
        violate("\(process.name) has committed a step, though \(overtaken.driver) drives")
    }

    /// A stale owner writes only rows of its own fence, and asks for no session.
    func wrote(_ bytes: [UInt8], _ process: SimulatedProcess) {
        guard let overtaken = process.overtaken else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        let isStanza = ["<message", "<iq", "<presence"].contains { text.hasPrefix($0) }
        let isBind = text.contains("urn:ietf:params:xml:ns:xmpp-bind")
        if process.hasBegunOvertaken, isBind || text.hasPrefix("<resume") {
            violate("\(process.name) asks for a session, though \(overtaken.driver) drives")
        } else if isStanza, !isBind, let queued = overtaken.queued, !queued.contains(bytes) {
            violate("\(process.name) writes what was queued after \(overtaken.driver) took over: \(text)")
        }
    }

    /// Says once what may happen often.
    private func violate(_ text: String) {
        guard !violations.contains(where: { $0.text == text }) else { return }
        world.trace("   FAULT: \(text)")
        violations.append(Violation(.roles, text))
    }
}
