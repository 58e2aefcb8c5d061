import Glibc

/// The source of time; tests inject their own.
public struct Clock: Sendable {
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Nanoseconds since some moment; monotonic.
    public let monotonic: @Sendable () -> Int64
    /// Milliseconds since the start of the machine, sleep included; the same for all processes, however the clock is
    /// set.
    public let sinceBoot: @Sendable () -> Int64
    /// An identifier of the present start of the machine.
    public let boot: @Sendable () -> String

    /// A custom clock.
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - monotonic: nanoseconds since some moment.
    ///   - sinceBoot: milliseconds since the start of the machine; nil if `now` is never set.
    ///   - boot: an identifier of the present start of the machine.
    public init(
        now: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64,
        sinceBoot: (@Sendable () -> Int64)? = nil, boot: @escaping @Sendable () -> String = { "" }
    ) {
        self.now = now
        self.monotonic = monotonic
        self.sinceBoot = sinceBoot ?? now
        self.boot = boot
    }

    /// The system's clocks.
    public static let system = Clock(
        now: { read(CLOCK_REALTIME) / 1_000_000 }, monotonic: { read(CLOCK_MONOTONIC) },
        sinceBoot: { read(withSleep) / 1_000_000 }, boot: { systemBoot })

    private static let withSleep = CLOCK_BOOTTIME
    /// From random(4).
    private static let systemBoot: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }()

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
