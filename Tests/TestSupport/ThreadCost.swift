import Foundation

/// The processor's time of a thread: other threads and processes count for nothing. Costs are compared with others of the same
/// moment only.
public enum ThreadCost {
    /// Seconds of the fastest of some runs.
    public static func least(of runs: Int = 9, _ body: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<runs {
            let start = now
            try body()
            least = min(least, now - start)
        }
        return least
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
