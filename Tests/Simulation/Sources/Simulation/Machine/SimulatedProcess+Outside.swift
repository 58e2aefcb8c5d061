import CSimulatedMachine
import KalijStore

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// What others do to a process, and ask of it.
extension SimulatedProcess {
    /// Operations on the disk fail.
    func disturb() {
        frozenAt = world.now
    }

    /// Looks who has rung or hung up.
    /// - Returns: whether somebody has.
    func hear() -> Bool {
        guard !isOver, !isFrozen, !isRunning else { return false }
        var hasHeard = schedule.look()
        if !isFrozen, question?.sent.bell.awaitHangUp(within: 0) ?? false, let id = question?.sent.id {
            hasHeard = true
            perform { [weak self] in self?.answered(id) }
        }
        return hasHeard
    }

    /// Ends as it does when it is told to: writes what is left, gives back the fence.
    func letGo() {
        perform { [self] in
            if let engine { engine.stop() } else { end(.ended(.stopped)) }
        }
    }

    /// Whether something can be accepted in it now.
    var isAccepting: Bool { engine != nil && !isDead && !isFrozen && !isRunning }

    /// Its database, if nothing is being done in it.
    var idleDatabase: Database? { isAccepting ? engine?.database : nil }

    /// Runs `body` in this process, as its own user's wish.
    /// - Returns: whether it has returned and the process lives.
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
