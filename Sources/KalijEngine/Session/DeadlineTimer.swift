import KalijCore
import KalijTransport

/// A timer of the loop for a time of the steady clock, always set to the earliest pending deadline.
package final class DeadlineTimer {
    private var timer: Timer?
    private var due: Int64?

    /// The longest delay: the loop's own clock may stop while the machine sleeps.
    private static let maxDelay = 3600.0

    /// Fires at `time`, or earlier if an earlier deadline is set.
    package func set(_ time: Int64, now: Int64, on loop: any Scheduler, _ body: @escaping () -> Void) {
        if let due, due <= time { return }
        timer?.cancel()
        due = time
        let (wait, overflow) = time.subtractingReportingOverflow(now)
        let seconds = overflow ? Self.maxDelay : min(max(0, Double(wait) / 1000), Self.maxDelay)
        timer = loop.schedule(after: seconds) { [weak self] in
            self?.due = nil
            body()
        }
    }

    package func cancel() {
        timer?.cancel()
        (timer, due) = (nil, nil)
    }
}
