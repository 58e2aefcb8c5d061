import KalijAddress

@testable import KalijCore
@testable import KalijFeatures

/// The user scrolls beyond the oldest stored message: older history of one conversation is requested.
struct OlderRequest: SimulatedAction {
    enum Kind: Sendable {
        /// The archive has messages from before the first login.
        case fill(messages: Int)
        /// The process dies after so many operations on the disk.
        case request(contact: Int, older: Int, operations: Int?)
    }
    let kind: Kind

    /// Requests near faults, and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0x9E6C_63D0_976A_F4C1 &+ 37)
        guard random.chance(30) else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        let messages = random.pick(4...160)
        let requests = (0..<random.pick(1...8)).map { _ in
            let isNear = !faults.isEmpty && random.chance(50)
            let time =
                isNear
                ? max(1, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...300_000))
                : random.pick(1...length)
            let kind = Kind.request(
                contact: random.pick(0...1), older: random.pick(1...60),
                operations: random.chance(15) ? random.pick(1...40) : nil)
            return Plan.Action(time: time, kind: .feature(OlderRequest(kind: kind)))
        }
        return [Plan.Action(time: 0, kind: .feature(OlderRequest(kind: .fill(messages: messages))))] + requests
    }

    func perform(in simulation: Simulation) {
        switch kind {
        case .fill(let messages): simulation.server.feature(SimulatedOlderHistory.self).fill(messages)
        case .request(let contact, let older, let operations):
            simulation.requestOlder(older, with: Simulation.contacts[contact], operations)
        }
    }
}

extension Simulation {
    func requestOlder(_ older: Int, with contact: String, _ operations: Int?) {
        guard let account else { return }
        let isAccepted = accept(operations: operations) { [world] database in
            try Step.accept(for: account, in: database, clock: world.clock(of: 1)) { step in
                try step.fetchHistory(older: older, with: try JID(contact).bare)
            }
        }
        world.trace("   \(older) older of \(contact): \(isAccepted ? "requested" : "perhaps requested")")
        server.feature(SimulatedOlderHistory.self).requested(older, with: contact, isAccepted: isAccepted)
    }
}
