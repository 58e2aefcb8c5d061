import KalijTransport

/// The timers of an account's driver: at most one timer for each purpose.
final class DriverTimers {
    enum Purpose: Hashable {
        /// A session must be there.
        case negotiation
        /// Bytes must have come before there is a session.
        case silence
        /// The session has lasted long enough to trust the way to the server.
        case stable
        /// An answer to `<r/>` must have come.
        case answer
        /// A sign of life is due on an idle connection.
        case keepalive
        /// The archive is read once more.
        case archive
        /// The tail is read over a slow link.
        case tail
        /// An `<r/>` is sent over a slow link.
        case request
        /// The database is tried again.
        case storage
        /// The server is tried again.
        case reconnect
        /// A logout waits no longer for the server.
        case logout
    }

    private let loop: any Scheduler
    private var timers: [Purpose: Timer] = [:]

    init(on loop: any Scheduler) { self.loop = loop }

    /// Replaces an earlier alarm for the purpose.
    func set(_ purpose: Purpose, after seconds: Double, _ body: @escaping () -> Void) {
        timers[purpose]?.cancel()
        timers[purpose] = loop.schedule(after: seconds, body)
    }

    func cancel(_ purpose: Purpose) { timers.removeValue(forKey: purpose)?.cancel() }

    /// The connection has ended: only a logout goes on.
    func connectionEnded() {
        for purpose in timers.keys where purpose != .logout { cancel(purpose) }
    }
}
