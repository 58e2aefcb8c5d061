/// Something happens in the encrypted conversation.
enum EncryptedAction {
    /// The user turns encryption on.
    case turnOn
    /// The user says something; with `operations` in a process of its own that dies after so many operations.
    case say(Int, operations: Int?)
    /// A device of the contact says something.
    case hear(Int, device: Int)
    /// The contact's last message comes once more: under its own id, or under another id.
    case hearAgain(isSame: Bool)
    /// The contact's second device comes into the list, or leaves it.
    case list(isListed: Bool)
    /// The user enters a room that hides addresses.
    case enter
    /// An occupant of the room writes as the contact's device.
    case impersonate
    /// Somebody makes a backup of the disk.
    case backUp
    /// The disk is put back to the backup.
    case putBack(isOtherFile: Bool)
}

extension EncryptedAction {
    /// The actions of a plan with an encrypted conversation: the faults of the plan, some of its traffic, and these actions, near
    /// the faults and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        var random = Seeded(seed &* 0x9FB2_1C65_1E98_DF25 &+ 11)
        var all = actions.filter { action in
            switch action.kind {
            case .change, .reading, .account, .garden, .readRoom: false
            case let kind where kind.isStanza: random.chance(30)
            default: true
            }
        }
        let faults = all.filter(\.kind.isFault).map(\.time)
        func time() -> Int64 {
            guard !faults.isEmpty, random.chance(50) else { return random.pick(0...length) }
            return max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-500_000...300_000))
        }
        func add(_ time: Int64, _ action: EncryptedAction) {
            all.append(Plan.Action(time: time, kind: .encrypted(action)))
        }
        var number = 1000
        func say(_ time: Int64) {
            number += 1
            add(time, .say(number, operations: nil))
        }
        add(random.pick(0...2_000_000), .turnOn)
        for number in 0..<random.pick(15...30) {
            let start = time()
            // Several in a row, as people write.
            for part in 0..<random.pick(1...3) {
                let action = speech(number * 4 + part, &random)
                add(start + Int64(part) * random.pick(0...200_000), action)
            }
        }
        for _ in 0..<random.pick(0...4) { add(random.pick(0...length), .list(isListed: random.chance(60))) }
        // The process dies between the step that seals a text and later steps; the next process seals another text.
        for _ in 0..<random.pick(0...3) {
            let start = time()
            say(start)
            let death = Plan.Kind.kill(
                operations: random.chance(30) ? random.pick(1...12) : nil, turns: random.pick(0...6))
            all.append(Plan.Action(time: start + random.pick(0...150_000), kind: death))
            say(start + random.pick(100_000...2_000_000))
        }
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var occupant = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 29)
        if occupant.chance(40) {
            add(occupant.pick(0...length / 4), .enter)
            for _ in 0..<occupant.pick(2...6) { add(occupant.pick(length / 8...length), .impersonate) }
        }
        // In one of three worlds the disk is put back, and in few of them twice.
        for _ in 0..<random.pick(weighted: [(60, 0), (25, 1), (8, 2)]) {
            let start = random.pick(length / 10...length * 6 / 10)
            add(start, .backUp)
            guard random.chance(60) else {
                add(random.pick(start...length), .putBack(isOtherFile: random.chance(50)))
                continue
            }
            // Soon, and with texts in sessions whose other end says nothing meanwhile: the old keys would be used again.
            let end = start + random.pick(2_000_000...5_000_000)
            all.removeAll { $0.kind.isHearing && (start - 500_000...end + 5_000_000).contains($0.time) }
            for _ in 0..<random.pick(1...3) { say(random.pick(start...end - 500_000)) }
            add(end, .putBack(isOtherFile: random.chance(50)))
            for _ in 0..<random.pick(1...2) { say(end + random.pick(100_000...3_000_000)) }
        }
        return all
    }

    private static func speech(_ number: Int, _ random: inout Seeded) -> EncryptedAction {
        switch random.pick(0...99) {
        case 0..<47: .say(number, operations: random.chance(8) ? random.pick(1...40) : nil)
        case 47..<90: .hear(number, device: random.chance(25) ? 1 : 0)
        default: .hearAgain(isSame: random.chance(60))
        }
    }
}

extension Plan.Kind {
    /// Whether the contact says something.
    fileprivate var isHearing: Bool {
        switch self {
        case .encrypted(.hear), .encrypted(.hearAgain): true
        default: false
        }
    }
}
