/// The results of rounds of handing over.
struct HandOverReport: Sendable {
    var rounds = 0
    var frozen: [FreezePoint: Int] = [:]
    /// Planned freezes whose process did not reach the point.
    var missed = 0
    var counts: [String: Int] = [:]
    /// Violations of the rules.
    var violations: [String] = []
    /// Seconds from SIGTERM to the end.
    var lettingGo: [Double] = []
    /// The seconds of `wake` runs that nobody froze.
    var wakes: [Double] = []

    mutating func count(_ what: String, _ number: Int = 1) { counts[what, default: 0] += number }

    func frozen(_ kind: FreezePoint.Kind) -> Int { kind.points.reduce(0) { $0 + (frozen[$1] ?? 0) } }

    mutating func add(_ other: HandOverReport) {
        rounds += other.rounds
        frozen.merge(other.frozen, uniquingKeysWith: +)
        missed += other.missed
        counts.merge(other.counts, uniquingKeysWith: +)
        violations += other.violations
        lettingGo += other.lettingGo
        wakes += other.wakes
    }

    var text: String {
        let kinds = FreezePoint.Kind.allCases.map { "\(frozen($0)) \($0.rawValue)" }.joined(separator: ", ")
        let points = FreezePoint.allCases.map { "\($0.rawValue) \(frozen[$0] ?? 0)" }.joined(separator: ", ")
        let what = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return """
            \(rounds) rounds; frozen \(kinds) (\(points); \(missed) did not come by); \(what); SIGTERM to the end: half \
            within \(Self.quantile(lettingGo, 0.5)) s, 99 % within \(Self.quantile(lettingGo, 0.99)) s, all within \
            \(lettingGo.max() ?? 0) s; wake runs: half within \(Self.quantile(wakes, 0.5)) s, all within \
            \(wakes.max() ?? 0) s; \(violations.count) violations
            """
    }

    private static func quantile(_ values: [Double], _ part: Double) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}
