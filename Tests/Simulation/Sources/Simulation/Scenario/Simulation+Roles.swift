import CSimulatedMachine
import KalijCoordination
import KalijStore

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The situation when another process has raised the fence over a process's head.
struct Overtaken {
    /// The name of the new driver.
    let driver: String
    /// The queue at that time; nil if the queue could not be read. With its last word an overtaken process may write only entries
    /// of this queue.
    let queued: Set<[UInt8]>?
}

/// The dealings of a directory's processes, judged by `Documentation/Rules.md`.
extension Simulation {
    /// Judges whether a process ended as its role demands.
    func judge(_ end: SimulatedProcess.End, of process: SimulatedProcess?) {
        guard let process else { return }
        if process.hasOutlivedItsBudget {
            violations.append(Violation(.roles, "\(process.name) did not end within its budget"))
        }
        // A driver may fail at letting go while another process is frozen within a transaction: no worse than a kill.
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
            // A process that was frozen while waiting has seen the time pass, and has acted accordingly.
            let disturbedAt = max(other.disturbedAt, process.disturbedAt)
            if !other.isFrozen, world.now - disturbedAt > 10_000_000, world.now - other.heldUpAt > 20_000_000 {
                violations.append(Violation(.roles, "\(process.name) takes over from \(other.name), which lives"))
            }
        }
    }

    /// Kills the process that is frozen within a transaction, in place of `FrozenWriter` on a real machine.
    func killWriter(of path: String) -> Bool {
        let writer = Int(machine_writer(path))
        guard let process = living.first(where: { $0.number == writer }), process.isFrozen else { return false }
        world.counts.writersKilled += 1
        // The asking process goes on running afterwards.
        let asking = machine_running()
        process.kill("it is frozen within a transaction")
        machine_run_as(asking)
        return true
    }

    // MARK: Stale owners

    /// A process that drives under a lower number is overtaken; `process` itself, if frozen since taking the fence.
    private func overtake(with process: SimulatedProcess, _ database: Database) {
        for other in living where other !== process && other.fence > 0 && !other.isDead {
            let (stale, driver) = other.fence < process.fence ? (other, process) : (process, other)
            guard stale.overtaken == nil else { continue }
            stale.overtaken = Overtaken(
                driver: driver.name,
                queued: try? Set(database.prepare("SELECT stanza FROM queue").all { $0.blob() }))
        }
    }

    /// Thaws an overtaken process just after the other process has begun, with new entries in the queue.
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
        let isInline = text.contains("<authenticate ") && text.contains("<bind ")
        if process.hasBegunOvertaken, isBind || isInline || text.contains("<resume ") {
            violate("\(process.name) asks for a session, though \(overtaken.driver) drives")
        } else if isStanza, !isBind, let queued = overtaken.queued, !queued.contains(bytes) {
            violate("\(process.name) writes what was queued after \(overtaken.driver) took over: \(text)")
        }
    }

    /// Notes a violation once, however often the violation happens.
    private func violate(_ text: String) {
        guard !violations.contains(where: { $0.text == text }) else { return }
        world.trace("   FAULT: \(text)")
        violations.append(Violation(.roles, text))
    }
}
