import KalijAddress

@testable import KalijFeatures

/// A choice of what notifies in the room of the simulation.
struct NotificationChange: SimulatedAction {
    enum Author: Sendable {
        /// The user, here; the process dies after so many operations on the disk.
        case user(operations: Int?)
        /// Another device of the account.
        case device
    }

    /// Unique among the changes of a plan.
    let number: Int
    let author: Author
    /// The name of the element; nil: the other device removes the choice.
    let setting: String?

    private init(_ number: Int, _ random: inout Seeded) {
        self.number = number
        author = random.chance(50) ? .user(operations: random.chance(15) ? random.pick(1...40) : nil) : .device
        var settings: [(Int, String?)] = [(3, "never"), (2, "always"), (2, "on-mention")]
        if case .device = author { settings.append((1, nil)) }
        setting = random.pick(weighted: settings)
    }

    /// Changes near faults, and at any other time, in plans with a room.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0x8EBC_6AF0_9C88_C6E3 &+ 29)
        guard actions.contains(where: { if case .garden = $0.kind { true } else { false } }), random.chance(80) else {
            return []
        }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        return (0..<random.pick(2...12)).map { number in
            let isNear = !faults.isEmpty && random.chance(50)
            let time =
                isNear
                ? max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...300_000))
                : random.pick(0...length)
            return Plan.Action(time: time, kind: .feature(NotificationChange(number, &random)))
        }
    }

    func perform(in simulation: Simulation) {
        let feature = simulation.server.feature(SimulatedNotificationSettings.self)
        guard case .user(let operations) = author else { return feature.write(setting, number) }
        guard let room = try? JID(SimulatedMUC.address) else { return }
        var change = ChangeSettings(for: room)
        change.notify = ["never": "none", "always": "all", "on-mention": "mentions"][setting ?? ""]
        let isAccepted = simulation.share(change, "notify-\(number)", operations)
        simulation.world.trace("   \(setting ?? "") is \(isAccepted ? "accepted" : "perhaps accepted")")
        feature.note(setting, isAccepted: isAccepted)
    }
}
