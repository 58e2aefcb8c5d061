import CSimulatedMachine
import KalijAddress
import KalijCoordination
import KalijStore
import KalijXML

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A process in the role `share`: accepts work, and does not drive.
final class Share {
    let number: Int
    let database: Database
    private(set) var uses = 0

    init(number: Int, path: String) throws {
        self.number = number
        database = try Database(path: path, durability: .machine)
    }

    func use() { uses += 1 }
}

/// Actions of the user.
extension Simulation {
    /// Runs `body` in a process of its own, with or without a kill, or in the driver.
    /// - Returns: whether `body` has returned in the living process.
    func accept(operations: Int?, _ body: @escaping (Database) throws -> Void) -> Bool {
        if operations == nil, let main, main.isAccepting, world.random.chance(70) { return main.accept(body) }
        // Held before the commit, and let go after the commit has succeeded or failed.
        let bell = Doorbell.bell(directory: directory.path)
        defer {
            _ = consume bell
            planBells()
        }
        guard let operations else { return acceptInShare(body) }
        guard let number = nextProcess() else { return false }
        let id = Int32(number)
        defer {
            _ = machine_bury(id)
            machine_run_as(0)
        }
        machine_run_as(id)
        machine_kill_after(id, operations)
        do {
            try body(try Database(path: directory.databasePath, durability: .machine))
        } catch {
            world.trace("   not accepted: \(error)")
            machine_kill(id)
            return false
        }
        return machine_is_dead(id) == 0
    }

    /// Runs `body` in a process that lives for a while, as a user's process does: the database is opened once for several
    /// messages.
    private func acceptInShare(_ body: @escaping (Database) throws -> Void) -> Bool {
        defer { machine_run_as(0) }
        do {
            if let share, share.uses > 8 || world.random.chance(5) { endShare() }
            if share == nil {
                guard let number = nextProcess() else { return false }
                machine_run_as(Int32(number))
                share = try Share(number: number, path: directory.databasePath)
            }
            guard let share else { return false }
            share.use()
            machine_run_as(Int32(share.number))
            try body(share.database)
            return true
        } catch {
            world.trace("   not accepted: \(error)")
            return false
        }
    }

    /// Kills the process of ``acceptInShare(_:)``.
    func endShare() {
        guard let number = share?.number else { return }
        machine_run_as(Int32(number))
        machine_kill(Int32(number))
        share = nil
        _ = machine_bury(Int32(number))
        machine_run_as(0)
    }

    /// - Parameter answered: the answered message.
    func accept(_ number: Int, _ contact: Int, _ operations: Int?, answering answered: MessageReference? = nil) {
        guard let account else { return }
        let body = "out-\(number)"
        var id = ""
        let isAccepted = accept(operations: operations) { [world, plan] database in
            let recipient = try JID(Self.contacts[contact]).bare
            // Where messages are changed, the id says the text.
            let text = try OutgoingText(
                body, to: recipient, id: plan.hasChanges ? body : nil,
                answering: answered?.answered(by: account, in: database))
            id = text.id
            _ = try Step.accept(for: account, in: database, clock: world.clock(of: number), text.accept)
        }
        world.trace("   \(body) is \(isAccepted ? "accepted" : "perhaps accepted")")
        guard isAccepted else { return }
        record.accepted.append(body)
        record.acceptedIDs.insert(id)
        record.last[contact] = id
        if server.hasShownPage { record.acceptedLate.insert(body) }
    }

    func ask(_ number: Int, _ answer: Int?, _ patience: Int) {
        guard let account else { return }
        world.counts.stanzas += 1
        var payload: [String: String] = [:]
        payload["answer"] = answer.map { "\($0)" }
        let request = Element(
            "iq", xmlns: "jabber:client", attributes: ["type": "get", "to": Self.contacts[0]],
            children: [Element("query", xmlns: "urn:x-simulated", attributes: payload)])
        let isAccepted = accept(operations: nil) { [world] database in
            try Step.accept(for: account, in: database, clock: world.clock(of: number)) { step in
                _ = try step.send(request, then: Asked(number: number), within: .seconds(patience))
            }
        }
        if isAccepted { record.waiting.insert(number) }
    }

    /// The user changes the account at its server.
    func change(_ change: AccountChange, _ operations: Int?) {
        guard let account else { return }
        switch change {
        case .password(let number):
            _ = accept(operations: operations) { [world] database in
                try Step.accept(for: account, in: database, clock: world.clock(of: number)) { step in
                    try step.changePassword(to: "secret-\(number)")
                }
            }
        case .block(let number, let isBlocked):
            guard let jid = try? JID("spam-\(number % 2)@example.com") else { return }
            let id = "block-\(number)"
            let isAccepted = isBlocked ? share(Block(jid), id, operations) : share(Unblock(jid), id, operations)
            if isAccepted { record.blockings.insert(id) }
        }
    }

    /// The application reads the archive of a room.
    func readRoom() {
        guard let account else { return }
        _ = accept(operations: nil) { [world] database in
            try Step.accept(for: account, in: database, clock: world.clock(of: 1)) { step in
                try step.readArchive(of: try JID(HostileRoom.address))
            }
        }
    }

    func setTimer(_ number: Int, _ seconds: Int) {
        guard let account else { return }
        let isAccepted = accept(operations: nil) { [world] database in
            try Step.accept(for: account, in: database, clock: world.clock(of: number)) { step in
                _ = try step.schedule(Rung(number: number), after: .seconds(seconds))
            }
        }
        if isAccepted { record.waiting.insert(number) }
    }
}
