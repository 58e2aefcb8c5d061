import KalijCore

/// Determines when requests time out.
///
/// If the process did not run for a while, a deadline may pass long before the response can be read. When a deadline passes, a
/// stanza is therefore sent to the server. Once the server has acknowledged it, requested or not, everything that the server sent
/// before was received. Requests that had passed their deadline at that time have no response in flight.
package struct RequestExpiry {
    package enum Action: Equatable {
        /// Queue a stanza for the server to acknowledge, and report its entry in the queue (``marked(by:at:)``).
        case mark
        /// Expire the requests whose deadline was before `until`.
        case expire(Requests.Expired, until: Int64)
    }

    /// The state of the account's connection.
    package enum Connection {
        case none, negotiating, unmanaged, managed
    }

    /// The entry of the queue that is to be acknowledged, and when it was added.
    private var mark: (entry: Int64, time: Int64)?

    /// A deadline has passed by `now`; nil if no action is due yet.
    package func deadlinePassed(_ connection: Connection, now: Int64) -> Action? {
        switch connection {
        case .none: .expire(.unsent, until: now)
        case .negotiating: nil  // the start of the session checks again
        case .unmanaged: .expire(.all, until: now)
        // Requests that become due in the meantime are checked afterwards.
        case .managed: mark == nil ? .mark : nil
        }
    }

    /// The entry `entry` was queued.
    package mutating func marked(by entry: Int64, at time: Int64) { mark = (entry, time) }

    /// An acknowledgement was received.
    /// - Parameter isAcknowledged: whether an entry of the queue was acknowledged.
    package mutating func acknowledged(_ isAcknowledged: (Int64) throws -> Bool) rethrows -> Action? {
        guard let mark, try isAcknowledged(mark.entry) else { return nil }
        self.mark = nil
        return .expire(.all, until: mark.time)
    }

    /// The connection has ended: the next session checks again.
    package mutating func connectionEnded() { mark = nil }
}
