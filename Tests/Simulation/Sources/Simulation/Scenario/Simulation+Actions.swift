import CSQLite
import CSimulatedMachine
import KalijCoordination

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Performs the planned actions.
extension Simulation {
    func perform(_ kind: Plan.Kind) {
        if kind.isFault { world.trace("*** \(kind)") }
        switch kind {
        case .incoming(let number, let contact): server.receive("in-\(number)", from: Self.contacts[contact])
        case .elsewhere(let number): server.receive("own-\(number)", from: server.account + "/phone")
        case .hidden(let number): server.receive("hidden-\(number)", from: Self.contacts[0], isHidden: true)
        case .accept(let number, let contact, let operations): accept(number, contact, operations)
        case .ask(let number, let answer, let patience): ask(number, answer, patience)
        case .timer(let number, let seconds): setTimer(number, seconds)
        case .kill(let operations, let turns): kill(operations, turns)
        case .killShowing: target()?.killShowing()
        case .replace: target()?.letGo()
        case .freeze(let milliseconds, let operations, let isPushed): freeze(milliseconds, operations, isPushed)
        case .freezeInMailbox(let milliseconds, let operations):
            freezeInMailbox(milliseconds, operations)
        case .push: startOther(.wake)
        case .flush: startOther(.background)
        case .leave(let milliseconds, let inOrder): leave(milliseconds, inOrder)
        case .read(let contact): server.feature(SimulatedNotifications.self).read(from: Self.contacts[contact])
        case .cut(let silently):
            world.counts.cuts += 1
            server.cut(silently: silently)
        case .powerFailure(let operations): powerFailure(operations)
        case .ioErrors(let mask, let after, let count, let isFull):
            guard let process = target() else { return }
            process.disturb()
            machine_fail(Int32(process.number), Int32(mask), after, count, isFull ? SQLITE_FULL : SQLITE_IOERR)
        case .restartServer(let milliseconds):
            world.counts.restarts += 1
            server.restart(after: Int64(milliseconds) * 1000)
        case .askWithoutReading(let milliseconds):
            world.trace("*** the server asks without end, and reads nothing")
            server.askWithoutReading(for: Int64(milliseconds) * 1000)
        case .expire(let operations, let turns): expire(operations, turns)
        case .expireArchive(let percent): server.feature(SimulatedArchive.self).expire(percent: percent)
        case .purgeArchive: server.feature(SimulatedArchive.self).purge()
        case .readRoom: readRoom()
        case .change(let change): self.change(change)
        case .reading(let reading): read(reading)
        case .account(let change, let operations): self.change(change, operations)
        case .garden(let action): garden(action)
        case .encrypted(let action): perform(action)
        case .file(let file): perform(file)
        case .feature(let action): action.perform(in: self)
        }
    }

    static let contacts = [
        "romeo@example.net/orchard", "nurse@example.net/kitchen", "tybalt@example.com/street",
        SimulatedMessages.nobody,
    ]

    /// The process that an action happens to.
    private func target() -> SimulatedProcess? {
        let all = living.filter { !$0.isFrozen }
        return all.isEmpty ? nil : all[world.random.pick(0...all.count - 1)]
    }

    private func kill(_ operations: Int?, _ turns: Int) {
        guard let process = target() else { return }
        if let operations { process.kill(afterOperations: operations) } else { process.kill(afterTurns: turns) }
    }

    private func freeze(_ milliseconds: Int, _ operations: Int?, _ isPushed: Bool) {
        guard let process = target() else { return }
        guard let operations else {
            process.freeze()
            return frozen(process, milliseconds, isPushed)
        }
        process.freeze(afterOperations: operations, within: nil) { [weak self, weak process] in
            self?.world.counts.freezesWithin += 1
            if let self, let process, isWritingToMailbox(process) { noteFreezeInMailbox() }
            self?.frozen(process, milliseconds, isPushed)
        }
    }

    /// Freezes a process that receives the letter of a push. Or freezes a process that hands a push over, and kills the driver
    /// then.
    private func freezeInMailbox(_ milliseconds: Int, _ operations: Int) {
        let path = Mailbox.databasePath(in: directory.path)
        if operations % 2 == 0 {
            guard let process = target() else { return }
            arm(process)
            return world.after(world.random.pick(1000...2_000_000)) { [weak self] in self?.startOther(.wake) }
        }
        startOther(.wake) { arm($0) }

        func arm(_ process: SimulatedProcess) {
            process.freeze(afterOperations: operations, within: path) { [weak self, weak process] in
                self?.world.counts.freezesWithin += 1
                self?.noteFreezeInMailbox()
                self?.frozen(process, milliseconds, true)
                // In the calm the user's own process stays.
                if process?.role == .wake, self?.isCalm == false { self?.leave(milliseconds, false) }
            }
        }
    }

    private func isWritingToMailbox(_ process: SimulatedProcess) -> Bool {
        machine_writer(Mailbox.databasePath(in: directory.path)) == Int32(process.number)
    }

    private func noteFreezeInMailbox() {
        world.counts.freezesInMailbox += 1
        for process in living { process.heldUpAt = world.now }
    }

    private func frozen(_ process: SimulatedProcess?, _ milliseconds: Int, _ isPushed: Bool) {
        world.counts.freezes += 1
        lastFreeze = world.now
        // Not for longer than until the calm.
        world.after(isCalm ? 0 : Int64(milliseconds) * 1000) { [weak process] in process?.thaw() }
        // The network is gone, too: the thawed process connects anew.
        if world.random.chance(30) {
            world.after(Int64(world.random.pick(0...100_000))) { [weak self] in self?.server.cut(silently: false) }
        }
        guard isPushed else { return }
        world.after(world.random.pick(1000...2_000_000)) { [weak self] in self?.startOther(.wake) }
    }

    private func leave(_ milliseconds: Int, _ inOrder: Bool) {
        guard !isAway else { return }
        isAway = true
        if inOrder { main?.letGo() } else { main?.kill("the user ends it") }
        world.after(Int64(milliseconds) * 1000) { [weak self] in
            guard let self, isAway, !isCalm else { return }
            isAway = false
            startMain()
        }
    }

    private func expire(_ operations: Int?, _ turns: Int) {
        guard !isAway else { return }
        // Nobody resumes the session meanwhile.
        isAway = true
        kill(operations, turns)
        world.after(1_000_000) { [weak self] in
            guard let self else { return }
            for process in living { process.kill("before its session expires") }
            world.after(500_000) { [weak self] in
                guard let self else { return }
                if server.expire() { world.counts.expiries += 1 }
                guard !isCalm else { return }
                isAway = false
                startMainSoon()
            }
        }
    }

    private func powerFailure(_ operations: Int?) {
        if let operations, let process = target() {
            // In the middle of a call: the process dies first, unnoticed.
            process.kill(afterOperations: operations)
            process.onDeath = { [weak self] in self?.failPower() }
            // If the process does fewer operations, the power fails after three seconds all the same.
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
        let all = living
        for process in all { process.onDeath = nil }
        for process in all { process.losePower() }
        endShare()
        record.failPower()
        server.login.powerFailed()
        machine_power_failure(world.random.next())
        world.startAgain()
        checkAcknowledged()
    }
}
