import KalijCore
import KalijTransport

/// The timers of an account's driver: at most one for each purpose.
package final class DriverTimers {
    package enum Purpose: Hashable {
        /// The timeout for establishing a session.
        case negotiation
        /// The timeout for receiving bytes during the negotiation.
        case silence
        /// The session has lasted long enough to trust the path to the server.
        case stable
        /// The session may have its first pause.
        case pause
        /// The timeout for a response to `<r/>`.
        case answer
        /// A keepalive is due on an idle connection.
        case keepalive
        /// The archive is read once more.
        case archive
        /// The tail is read over a slow link.
        case tail
        /// A postponed `<r/>` is sent over a slow link.
        case request
        /// A write to the database is retried.
        case storage
        /// The connection is retried.
        case reconnect
        /// The timeout of a logout.
        case logout
    }

    private let loop: any Scheduler
    private var timers: [Purpose: Timer] = [:]

    package init(on loop: any Scheduler) { self.loop = loop }

    /// Replaces an earlier timer for the purpose.
    package func set(_ purpose: Purpose, after seconds: Double, _ body: @escaping () -> Void) {
        timers[purpose]?.cancel()
        timers[purpose] = loop.schedule(after: seconds, body)
    }

    package func cancel(_ purpose: Purpose) { timers.removeValue(forKey: purpose)?.cancel() }

    /// The connection has ended: only a logout's timer remains.
    package func connectionEnded() {
        for purpose in timers.keys where purpose != .logout { cancel(purpose) }
    }
}
