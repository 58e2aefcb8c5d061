import KalijClient
import Synchronization

/// The time of a test: stands still until the test moves it.
public final class TestTime: Sendable {
    /// How many milliseconds have passed, and the error of the clock.
    private let time: Mutex<(passed: Int64, error: Int64)>
    private let begin: Int64

    /// - Parameter begin: milliseconds since 1970; at first 2026-01-01T12:00:00Z.
    public init(_ begin: Int64 = 1_767_268_800_000) {
        self.begin = begin
        time = Mutex((0, 0))
    }

    /// Milliseconds since 1970.
    public var now: Int64 { time.withLock { begin + $0.passed + $0.error } }

    /// Moves the time forward. ``TestAccount/wait(_:killed:)`` also does what is due then.
    public func advance(by duration: Duration) {
        let (seconds, rest) = duration.components
        let passed = max(0, seconds.multipliedReportingOverflow(by: 1000).partialValue) + rest / 1_000_000_000_000_000
        move(by: max(0, passed))
    }

    /// Moves the time forward by milliseconds.
    package func move(by milliseconds: Int64) { time.withLock { $0.passed += milliseconds } }

    /// Sets the machine's clock forward or back; no time passes.
    package func set(by milliseconds: Int64) { time.withLock { $0.error += milliseconds } }

    package var clock: Clock {
        Clock(
            now: { self.now }, monotonic: { self.passed * 1_000_000 }, sinceBoot: { self.passed }, boot: { "test" })
    }

    private var passed: Int64 { time.withLock { $0.passed } }
}
