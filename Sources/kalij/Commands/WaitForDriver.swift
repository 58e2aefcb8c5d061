import Glibc
import KalijClient
import KalijCoordination

/// Waits for the driver's work, or drives until the work is done.
///
/// The only place where a command waits for another process: the doorbell signals, so there is no polling.
struct WaitForDriver {
    let directory: AccountDirectory

    /// - Parameters:
    ///   - isDone: checks the database; called after each change, and at `next`.
    ///   - next: when to check at the latest, in nanoseconds of the monotonic clock; called before each wait.
    ///   - drive: drives until the work is done.
    /// - Throws: the closures' errors, except a `FenceError` of `drive`, which indicates that another process drives.
    func wait(
        until isDone: () throws -> Bool, next: () -> Int64, drive: () throws -> Void
    ) throws {
        while try !isDone() {
            do {
                do {
                    // An interrupted driver stops in an orderly manner; a waiting process has nothing to release.
                    defer { SignalDisposition.endsAtOnce(isWaiting: true) }
                    try drive()
                }
                // Not done: a process with precedence requested the fence, so it drives first.
                if try !isDone() { awaitDriver() }
            } catch is FenceError {
                try listen(until: isDone, next: next)
            }
        }
    }

    /// Waits for a short time until another process drives.
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
