/// Finds transfers that are too slow: fewer bytes than the limit on average over the time of the limit.
struct SpeedWatch {
    private let limits: TransferLimits
    private var samples: [(time: Double, bytes: Int64)] = []

    init(_ limits: TransferLimits) { self.limits = limits }

    /// Seconds between two samples.
    var interval: Double { max(0.05, limits.lowSpeedSeconds / 10) }

    /// Forgets the past: while the transfer cannot move, or is not to.
    mutating func reset() { samples = [] }

    /// Takes a sample.
    /// - Parameter bytes: moved so far, in either direction.
    /// - Returns: whether to give up.
    mutating func isTooSlow(bytes: Int64, now: Double) -> Bool {
        samples.append((now, bytes))
        // The first sample is the youngest that is old enough.
        while samples.count > 1, now - samples[1].time >= limits.lowSpeedSeconds { samples.removeFirst() }
        guard let first = samples.first, now - first.time >= limits.lowSpeedSeconds else { return false }
        return Double(bytes - first.bytes) < Double(limits.lowSpeed) * (now - first.time)
    }
}
