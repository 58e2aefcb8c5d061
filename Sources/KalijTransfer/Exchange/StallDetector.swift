import KalijTransport

/// Finds transfers that are too slow: fewer bytes than the limit on average over the time of the limit.
struct SpeedMeasure {
    private let limits: TransferLimits
    private var samples: [(time: Double, bytes: Int64)] = []

    init(_ limits: TransferLimits) { self.limits = limits }

    /// Drops earlier samples: while the transfer cannot progress, or must not.
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

/// Measures a transfer from time to time.
final class StallDetector {
    private let loop: any TransferLoop
    private let interval: Double
    private var measure: SpeedMeasure
    private var timer: Timer?

    init(loop: any TransferLoop, limits: TransferLimits) {
        self.loop = loop
        measure = SpeedMeasure(limits)
        interval = max(0.05, limits.lowSpeedSeconds / 10)
    }

    /// - Parameters:
    ///   - moved: the bytes moved so far; nil while the transfer cannot move or is not to.
    ///   - tooSlow: called once.
    func start(moved: @escaping () -> Int64?, tooSlow: @escaping () -> Void) {
        timer = loop.schedule(after: interval) { [self] in
            if let bytes = moved() {
                if measure.isTooSlow(bytes: bytes, now: loop.now) { return tooSlow() }
            } else {
                measure.reset()
            }
            start(moved: moved, tooSlow: tooSlow)
        }
    }

    func cancel() {
        timer?.cancel()
        timer = nil
    }
}
