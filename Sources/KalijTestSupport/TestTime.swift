import KalijClient
import Synchronization

/// The time of a test: stands still until the test moves it.
public final class TestTime: Sendable {
    private let milliseconds: Mutex<Int64>
    private let begin: Int64

    /// - Parameter begin: milliseconds since 1970; at first 2026-01-01T12:00:00Z.
    public init(_ begin: Int64 = 1_767_268_800_000) {
        self.begin = begin
        milliseconds = Mutex(begin)
    }

    /// Milliseconds since 1970.
    public var now: Int64 { milliseconds.withLock { $0 } }

    /// Moves the time forward. ``TestAccount/wait(_:killed:)`` also does what is due then.
    public func advance(by duration: Duration) {
        let (seconds, rest) = duration.components
        let passed = max(0, seconds.multipliedReportingOverflow(by: 1000).partialValue) + rest / 1_000_000_000_000_000
        milliseconds.withLock { $0 += max(0, passed) }
    }

    var clock: Clock {
        let begin = begin
        return Clock(
            now: { self.now }, monotonic: { (self.now - begin) * 1_000_000 }, sinceBoot: { self.now - begin },
            boot: { "test" })
    }
}
