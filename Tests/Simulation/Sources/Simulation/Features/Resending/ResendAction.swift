@testable import KalijFeatures

/// The user sends a text again: in some cases it has failed, or its outcome is unknown; in others it is on its way, or has arrived.
struct ResendAction: SimulatedAction {
    let number: Int
    /// Whether the text was to an address without an owner.
    let isRefused: Bool
    /// How many texts before the newest the text is.
    let age: Int
    /// The process dies after so many operations on the disk.
    let operations: Int?

    /// Resends near faults, and at any other time; and texts that are refused.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0x9E6C_63D0_5A1B_2C3D &+ 41)
        guard random.chance(35) else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        let texts = (0..<random.pick(1...4)).map { number in
            Plan.Action(
                time: random.pick(0...length), kind: .accept(36_000 + number, contact: 3, operations: nil))
        }
        return texts
            + (0..<random.pick(2...10)).map { number in
                let isNear = !faults.isEmpty && random.chance(50)
                let time =
                    isNear
                    ? max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...3_000_000))
                    : random.pick(0...length)
                let action = ResendAction(
                    number: number, isRefused: random.chance(50), age: random.pick(weighted: [(5, 0), (3, 1), (2, 4)]),
                    operations: random.chance(15) ? random.pick(1...40) : nil)
                return Plan.Action(time: time, kind: .feature(action))
            }
    }

    func perform(in simulation: Simulation) {
        let texts = simulation.server.taken.filter { $0.isRefused == isRefused }
        guard !texts.isEmpty else { return }
        let text = texts[max(0, texts.count - 1 - age)]
        let id = "resend-\(number)"
        let isAccepted = simulation.share(Resend(.id(text.originID)), id, operations)
        simulation.world.trace("   \(id) of \(text.body) is \(isAccepted ? "accepted" : "perhaps accepted")")
        simulation.server.feature(SimulatedResending.self).requested(id, text, isAccepted: isAccepted)
    }
}
