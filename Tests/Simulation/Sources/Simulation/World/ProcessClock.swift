/// The clock of a process: off by up to an hour, and set again and again.
///
/// All processes of a real machine have the same clock. A clock for each process shows more: a time written down by a process
/// must mean nothing to another process. The clocks draw no number from the world.
struct ProcessClock {
    let seed: UInt64
    let process: Int

    /// The largest error, in milliseconds.
    static let error: Int64 = 3_600_000

    /// The error at a moment of the world, in milliseconds.
    func error(at time: Int64) -> Int64 {
        var random = Seeded(
            seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: process) &* 0xD1B5_4A32_D192_ED03)
        // From 2 to 60 s; some are never set.
        let period = Int64(random.pick(2000...60_000))
        let isSet = random.chance(80)
        let setting = isSet ? time / period : 0
        var drawn = Seeded(random.next() ^ UInt64(truncatingIfNeeded: setting) &* 0xA24B_AED4_963E_E407)
        switch drawn.pick(0...3) {
        case 0: return 0
        case 1: return Int64(drawn.pick(-2000...2000))
        default: return Int64(drawn.pick(Int(-Self.error)...Int(Self.error)))
        }
    }
}
