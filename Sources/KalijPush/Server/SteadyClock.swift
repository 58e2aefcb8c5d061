import Glibc

/// Milliseconds since 1970 that never decrease: the wall clock at the start plus the monotonic time since. Steps of the wall
/// clock are not followed.
struct SteadyClock {
    private let offset: Milliseconds

    init() { offset = Self.read(CLOCK_REALTIME) - Self.read(CLOCK_BOOTTIME) }

    var now: Milliseconds { offset + Self.read(CLOCK_BOOTTIME) }

    /// How far the wall clock has been stepped since the start.
    var wallOffset: Milliseconds { Self.read(CLOCK_REALTIME) - now }

    private static func read(_ clock: clockid_t) -> Milliseconds {
        var time = timespec()
        clock_gettime(clock, &time)
        return Milliseconds(time.tv_sec) * 1000 + Milliseconds(time.tv_nsec) / 1_000_000
    }
}
