import CSimulatedMachine
import KalijStore

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Actions and questions of others.
extension SimulatedProcess {
    /// Operations on the disk fail.
    func disturb() {
        frozenAt = world.now
    }

    /// Looks for callers that have rung or hung up.
    /// - Returns: whether there was a caller.
    func hear() -> Bool {
        guard !isOver, !isFrozen, !isRunning else { return false }
        var hasHeard = schedule.look()
        if !isFrozen, question?.sent.bell.awaitHangUp(within: 0) ?? false, let id = question?.sent.id {
            hasHeard = true
            perform { [weak self] in self?.answered(id) }
        }
        return hasHeard
    }

    /// Ends as a process ends when told to: writes the queue, gives back the fence.
    func letGo() {
        perform { [self] in
            if let engine { engine.stop() } else { end(.ended(.stopped)) }
        }
    }

    /// Whether the process can accept something now.
    var isAccepting: Bool { engine != nil && !isDead && !isFrozen && !isRunning }

    /// The process's database, if the process is idle.
    var idleDatabase: Database? { isAccepting ? engine?.database : nil }

    /// Has the engine perform an intent.
    /// - Returns: whether the intent was accepted and the process lives.
    func accept(_ intent: some Intent, _ id: String) -> Bool {
        var isAccepted = false
        perform { [self] in
            do {
                _ = try engine?.accept(intent, id: id)
                isAccepted = !isDead && engine != nil
            } catch {
                world.trace("   not accepted: \(error)")
            }
        }
        return isAccepted
    }

    /// Runs `body` in this process, as the wish of the process's own user.
    /// - Returns: whether `body` has returned and the process lives.
    func accept(_ body: @escaping (Database) throws -> Void) -> Bool {
        var isAccepted = false
        perform { [self] in
            isAcceptingNow = true
            defer { isAcceptingNow = false }
            do {
                let database =
                    try accepting ?? Database(path: surroundings.directory.databasePath, durability: .machine)
                accepting = database
                try body(database)
                isAccepted = !isDead
                schedule.enqueue { [weak self] in self?.engine?.drivers.values.forEach { $0.queueChanged() } }
            } catch {
                world.trace("   not accepted: \(error)")
            }
        }
        return isAccepted
    }
}
