/// A change of a message, by the user or by somebody else.
struct Change {
    enum Author: Sendable {
        /// The user, here.
        case user
        /// The contact.
        case contact
        /// Another device of the account.
        case phone
        /// Somebody else, who names a message of the contact's conversation.
        case stranger
    }

    enum Kind: Sendable { case correct, retract, react, reply, forget }

    /// Unique among the changes of a plan.
    let number: Int
    let author: Author
    let kind: Kind
    let contact: Int
    /// How many messages before the newest the changed message is.
    let age: Int
    /// The target comes only after so many milliseconds; nil if the target is an older message.
    let early: Int?
    /// How many emoji a reaction has.
    let emoji: Int
    /// The user's process dies after so many operations on the disk.
    let operations: Int?
}

extension Change {
    init(_ number: Int, _ random: inout Seeded) {
        self.number = number
        author = random.pick(weighted: [(10, .user), (8, .contact), (3, .phone), (2, .stranger)])
        kind = random.pick(weighted: [
            (6, .correct), (3, .retract), (7, .react), (2, .reply), (author == .user ? 1 : 0, .forget),
        ])
        // Copies of another device's messages go to one contact alone.
        contact = author == .phone ? 0 : random.pick(weighted: [(4, 0), (3, 1)])
        age = random.pick(weighted: [(5, 0), (3, 1), (2, 2), (2, 7)])
        let comesEarly = author == .contact && kind != .reply && random.chance(25)
        early = comesEarly ? random.pick(1...15_000) : nil
        emoji = random.pick(weighted: [(3, 1), (2, 0), (1, 2)])
        operations = author == .user && random.chance(10) ? random.pick(1...40) : nil
    }

    /// Changes near faults, and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0xC2B2_AE3D_27D4_EB4F &+ 5)
        guard random.chance(70) else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        return (0..<random.pick(10...30)).map { number in
            let isNear = !faults.isEmpty && random.chance(50)
            let time =
                isNear
                ? max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...300_000))
                : random.pick(0...length)
            return Plan.Action(time: time, kind: .change(Change(number, &random)))
        }
    }
}
