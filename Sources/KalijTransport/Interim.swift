public struct Backoff {
    let base: Double, limit: Double
    var n = 0
    public init(base: Double = 1, limit: Double = 300) { self.base = base; self.limit = limit }
    public mutating func next(random: Double) -> Double {
        n += 1
        var c = base
        for _ in 1..<max(1, min(n, 30)) { c = min(limit, c * 2) }
        return c * random
    }
    public mutating func reset() { n = 0 }
}
public final class NetworkMonitor { public init(loop: EventLoop, onChange: @escaping () -> Void) throws {} }
