/// How many records a node may share: 600 a minute, and 6,000 at once. Records older than ten minutes are free: they are read
/// again after an absence.
enum ReplicationRate {
    static let perSecond = 10.0
    static let atOnce = 6_000.0
    static let young: Milliseconds = 600_000
    /// Clocks differ by so much, at most.
    static let margin: Milliseconds = 10_000
}

/// What a node allows itself.
struct WritingBudget: Sendable {
    private var tokens: Double
    private var at: Milliseconds

    /// A process that is started again and again gets no more than one that runs.
    init(now: Milliseconds) {
        tokens = ReplicationRate.perSecond * 60
        at = now
    }

    mutating func acquire(_ now: Milliseconds) -> Bool {
        tokens = min(ReplicationRate.atOnce, tokens + Double(max(0, now - at)) / 1000 * ReplicationRate.perSecond)
        at = max(at, now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// What is taken of another node: by the records' versions, so that the time of reading does not decide.
///
/// A node that keeps to its own budget is never cut: within ten minutes it shares 12,000 records at most, and no more of
/// its records are young at any time.
struct ReadingBudget: Sendable {
    private static let slot: Milliseconds = 60_000
    private static let maxRecords =
        Int(ReplicationRate.atOnce) + Int(ReplicationRate.perSecond * 600) + 2 * Int(ReplicationRate.perSecond * 60)

    /// Records by the minute of their version.
    private var accepted: [Milliseconds: Int] = [:]

    mutating func acquire(_ time: Milliseconds, now: Milliseconds) -> Bool {
        guard now - time < ReplicationRate.young else { return true }
        let oldest = (now - ReplicationRate.young) / Self.slot
        accepted = accepted.filter { $0.key >= oldest }
        guard accepted.values.reduce(0, +) < Self.maxRecords else { return false }
        accepted[time / Self.slot, default: 0] += 1
        return true
    }
}

/// Whether a node's records turn out to be true, in the last hour.
struct PeerErrorRate: Sendable {
    private static let hour: Milliseconds = 3_600_000
    private static let maxChecks = 1_000
    private static let enough = 5

    private var questions: [(at: Milliseconds, isStrike: Bool)] = []

    /// A push has checked the claim that a device no longer exists.
    /// - Parameter isStrike: the device had an earlier success than the record, and another one now.
    /// - Returns: whether the node's claims are to be ignored.
    mutating func record(isStrike: Bool, now: Milliseconds) -> Bool {
        questions.removeAll { now - $0.at > Self.hour }
        if questions.count >= Self.maxChecks { questions.removeFirst() }
        questions.append((now, isStrike))
        let strikes = count(now)
        return strikes >= Self.enough && strikes * 2 > questions.count
    }

    func count(_ now: Milliseconds) -> Int {
        questions.reduce(0) { $0 + ($1.isStrike && now - $1.at <= Self.hour ? 1 : 0) }
    }
}
