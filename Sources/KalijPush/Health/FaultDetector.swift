/// Counts answers that blame this server, until they amount to a fault.
///
/// One odd answer may concern one push only: somebody's token can be made to cause an answer that nobody else gets. So a fault
/// takes three answers, two seconds, half of all answers of that time, and more than one owner of domains where there is more
/// than one.
struct FaultDetector: Sendable {
    private struct Run: Sendable {
        var since: Milliseconds
        var faults = 0
        var others = 0
        var owners: Set<HashedKey> = []
    }

    private static let threshold = (count: 3, time: Milliseconds(2_000))
    private static let maxInterval: Milliseconds = 60_000

    private var run: Run?
    private var reportedAt: Milliseconds?

    /// - Returns: whether this is a fault; a fault begins the next count.
    mutating func fault(of owner: HashedKey?, owners: Int, now: Milliseconds) -> Bool {
        var run = run.flatMap { now - $0.since < Self.maxInterval ? $0 : nil } ?? Run(since: now)
        run.faults += 1
        if let owner, run.owners.count < 2 { run.owners.insert(owner) }
        let isFault =
            run.faults >= Self.threshold.count && now - run.since >= Self.threshold.time && run.faults >= run.others
            && run.owners.count >= min(2, owners)
        self.run = isFault ? nil : run
        return isFault
    }

    /// The provider has judged a token, so the request was valid.
    mutating func judged() { run?.others += 1 }

    /// Whether an odd answer is worth a line: once an hour.
    mutating func isNews(now: Milliseconds) -> Bool {
        if let reportedAt, now - reportedAt < 3_600_000 { return false }
        reportedAt = now
        return true
    }
}
