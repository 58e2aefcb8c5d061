/// A bar with the remaining time, drawn from the fraction done and the time since the start.
package struct ProgressBar: Sendable {
    private let began = ContinuousClock.now
    private let width = 24

    package init() {}

    /// A line: bar, percentage, details, the time left.
    /// - Parameter fraction: from 0 to 1.
    package func line(fraction: Double, details: String) -> String {
        let filled = Int(Double(width) * min(max(fraction, 0), 1))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(bar) \(Int(fraction * 100))%  \(details)\(remaining(fraction))"
    }

    private func remaining(_ fraction: Double) -> String {
        let elapsed = Double((ContinuousClock.now - began).components.seconds)
        guard fraction > 0.02, fraction < 1, elapsed >= 2 else { return "" }
        return "  \(clock(elapsed / fraction - elapsed)) left"
    }
}

/// Seconds as minutes and seconds.
func clock(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded())
    let rest = whole % 60
    return "\(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
}
