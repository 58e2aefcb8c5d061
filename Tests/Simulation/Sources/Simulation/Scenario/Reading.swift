/// Somebody reads a conversation.
struct Reading {
    /// Unique among the readings of a plan.
    let number: Int
    /// Whether another device reads.
    let isElsewhere: Bool
    let contact: Int
    /// How many messages before the newest the last read message is.
    let age: Int
    /// Whether the other device sends a marker, and whether it publishes the place.
    let isMarked: Bool
    let isPublished: Bool
    /// The user's process dies after so many operations on the disk.
    let operations: Int?

    init(_ number: Int, _ random: inout Seeded) {
        self.number = number
        isElsewhere = random.chance(45)
        contact = random.pick(weighted: [(5, 0), (3, 1), (1, 2)])
        age = random.pick(weighted: [(6, 0), (2, 1), (2, 4)])
        isMarked = random.chance(50)
        isPublished = !isMarked || random.chance(50)
        operations = !isElsewhere && random.chance(15) ? random.pick(1...40) : nil
    }

    /// Readings near faults, and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 7)
        guard random.chance(70) else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        return (0..<random.pick(4...16)).map { number in
            let isNear = !faults.isEmpty && random.chance(50)
            let time =
                isNear
                ? max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...300_000))
                : random.pick(0...length)
            return Plan.Action(time: time, kind: .reading(Reading(number, &random)))
        }
    }
}
