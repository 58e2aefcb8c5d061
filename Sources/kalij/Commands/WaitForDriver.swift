import Glibc
import KalijClient
import KalijRoles

/// Waits for the driver's work, or drives until the work is done.
///
/// The only place where a command waits for another process: the doorbell signals, so there is no polling.
struct WaitForDriver {
    let directory: AccountDirectory

    /// - Parameters:
    ///   - isDone: looks into the database; asked whenever something has happened, and at `next`.
    ///   - next: when to look at the latest, in nanoseconds of the monotonic clock; asked anew each time.
    ///   - drive: drives until the work is done.
    /// - Throws: the closures' errors, except a `FenceError` of `drive`: then another process drives.
    func wait(
        until isDone: () throws -> Bool, next: () -> Int64, drive: () throws -> Void
    ) throws {
        while try !isDone() {
            do {
                do {
                    // An interrupted driver lets go in order; a waiting process has nothing to let go.
                    defer { SignalDisposition.endsAtOnce(isWaiting: true) }
                    try drive()
                }
                // Not done: this process was asked to let another process drive, so the other process goes first.
                if try !isDone() { awaitDriver() }
            } catch is FenceError {
                try listen(until: isDone, next: next)
            }
        }
    }

    /// Waits a while for another process to drive.
    private func awaitDriver() {
        for _ in 0..<50 {
            usleep(20_000)
            if Doorbell.bell(directory: directory.path) != nil { return }
        }
    }

    private func listen(until isDone: () throws -> Bool, next: () -> Int64) throws {
        guard let subscription = Doorbell.subscription(directory: directory.path) else {
            usleep(20_000)  // the driver is just starting or just ending
            return
        }
        repeat {
            let seconds = Double(next() - Clock.system.monotonic()) / 1_000_000_000  // fits: both are of this boot
            if case .end = subscription.wait(seconds: seconds) { return }
        } while try !isDone()
    }
}
