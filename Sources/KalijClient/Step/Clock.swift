#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where time comes from; tests bring their own.
public struct Clock: Sendable {
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Nanoseconds since some moment; never steps back.
    public let monotonic: @Sendable () -> Int64

    /// A clock of one's own.
    public init(now: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64) {
        self.now = now
        self.monotonic = monotonic
    }

    /// The system's clocks.
    public static let system = Clock(
        now: { read(CLOCK_REALTIME) / 1_000_000 }, monotonic: { read(CLOCK_MONOTONIC) })

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
