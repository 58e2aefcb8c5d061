/// A change of the account at its server.
enum AccountChange {
    /// The user changes the password.
    case password(Int)
    /// The user blocks somebody, or no longer.
    case block(Int, isBlocked: Bool)

    /// Changes near faults, and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0xA076_1D64_78BD_642F &+ 9)
        guard random.chance(40) else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        return (0..<random.pick(1...6)).map { number in
            let isNear = !faults.isEmpty && random.chance(60)
            let time =
                isNear
                ? max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-500_000...300_000))
                : random.pick(0...length)
            let change = random.chance(60) ? password(number) : block(number, isBlocked: random.chance(70))
            let operations = random.chance(25) ? random.pick(1...40) : nil
            return Plan.Action(time: time, kind: .account(change, operations: operations))
        }
    }
}
