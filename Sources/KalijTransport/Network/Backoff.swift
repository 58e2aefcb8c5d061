/// How long to wait before the next attempt to connect. The bound doubles each time, and the wait is drawn at random from zero up
/// to the bound, so that the clients of a restarted server do not all reconnect at once ("full jitter").
public struct Backoff: Sendable {
    /// The longest first wait, in seconds.
    public let base: Double
    /// The longest wait, in seconds.
    public let limit: Double
    private var attempts = 0

    public init(base: Double = 1, limit: Double = 300) {
        self.base = base
        self.limit = limit
    }

    /// The next wait, in seconds.
    ///
    /// - Parameter random: a fresh random number from 0 up to but not including 1.
    /// - Returns: `random` times the bound; the bound is `base` at first and doubles with each call up to `limit`.
    public mutating func next(random: Double) -> Double {
        var bound = base
        for _ in 0..<attempts where bound < limit { bound *= 2 }
        // After so many attempts no double gets larger; counting on would only overflow one day.
        if attempts < 1024 { attempts += 1 }
        return min(bound, limit) * random
    }

    /// Begins anew, after a success or when the network has changed.
    public mutating func reset() { attempts = 0 }
}
