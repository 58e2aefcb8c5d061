/// What happens in the room of the simulation.
enum GardenAction {
    /// The user enters the room.
    case join
    /// The user says something; the process dies after so many operations on the disk.
    case say(Int, operations: Int?)
    /// The contact says something.
    case talk(Int)
    /// The room forgets who is there, and says so, or not.
    case restart(isTold: Bool)
    /// The user wants pushes.
    case push
    /// Another device changes the list of rooms.
    case list(Int)

    /// Every third plan has a room: what is said near faults, and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0xA24B_AED4_963E_E407 &+ 11)
        guard seed / 4 % 3 == 1 else { return [] }
        let faults = actions.filter(\.kind.isFault).map(\.time)
        func time() -> Int64 {
            guard !faults.isEmpty, random.chance(50) else { return random.pick(0...length) }
            return max(0, faults[random.pick(0...faults.count - 1)] + random.pick(-300_000...300_000))
        }
        var all = [Plan.Action(time: random.pick(0...2_000_000), kind: .garden(.join))]
        for number in 0..<random.pick(6...16) {
            let operations = random.chance(10) ? random.pick(1...40) : nil
            all.append(Plan.Action(time: time(), kind: .garden(.say(number, operations: operations))))
        }
        for number in 0..<random.pick(6...20) { all.append(Plan.Action(time: time(), kind: .garden(.talk(number)))) }
        for _ in 0..<random.pick(0...2) {
            all.append(Plan.Action(time: time(), kind: .garden(.restart(isTold: random.chance(50)))))
        }
        if random.chance(70) {
            all.append(Plan.Action(time: random.pick(0...length / 2), kind: .garden(.push)))
        }
        for number in 0..<random.pick(0...4) { all.append(Plan.Action(time: time(), kind: .garden(.list(number)))) }
        return all
    }
}
