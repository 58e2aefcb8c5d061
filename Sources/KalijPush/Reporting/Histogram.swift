/// How long things took, in buckets.
struct Histogram {
    /// Upper bounds, in seconds.
    static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private(set) var counts = [UInt64](repeating: 0, count: Histogram.bounds.count)
    private(set) var count: UInt64 = 0
    private(set) var sum = 0.0

    mutating func add(_ seconds: Double) {
        count += 1
        sum += seconds
        // Each bucket also counts the values of the lower buckets.
        for (index, bound) in Self.bounds.enumerated() where seconds <= bound { counts[index] += 1 }
    }
}
