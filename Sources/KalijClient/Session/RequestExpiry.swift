import KalijSteps

/// The way to letting requests time out.
///
/// If the process did not run for a while, a deadline has passed long before the answer can be read. So when a deadline passes,
/// the server is sent a stanza. Once the server has acknowledged the stanza, asked or unasked, everything has come that the
/// server sent before. Requests that were over their deadline then have no answer on the way.
struct RequestExpiry {
    enum Action: Equatable {
        /// Queue a stanza for the server to acknowledge, and tell of its entry in the queue (``marked(by:at:)``).
        case mark
        /// Let requests time out if their deadline was before `until`.
        case expire(Requests.Expired, until: Int64)
    }

    /// How the account is connected.
    enum Connection {
        case none, negotiating, unmanaged, managed
    }

    /// The entry of the queue that is to be acknowledged, and when the entry was added.
    private var mark: (entry: Int64, time: Int64)?

    /// A deadline has passed by `now`; nil if there is nothing to be done yet.
    func deadlinePassed(_ connection: Connection, now: Int64) -> Action? {
        switch connection {
        case .none: .expire(.unsent, until: now)
        case .negotiating: nil  // the beginning of the session looks again
        case .unmanaged: .expire(.all, until: now)
        // Requests that come due meanwhile are looked for afterwards.
        case .managed: mark == nil ? .mark : nil
        }
    }

    /// The entry `entry` was queued.
    mutating func marked(by entry: Int64, at time: Int64) { mark = (entry, time) }

    /// Something was acknowledged.
    /// - Parameter isAcknowledged: whether an entry of the queue is.
    mutating func acknowledged(_ isAcknowledged: (Int64) throws -> Bool) rethrows -> Action? {
        guard let mark, try isAcknowledged(mark.entry) else { return nil }
        self.mark = nil
        return .expire(.all, until: mark.time)
    }

    /// The connection has ended: the next session looks again.
    mutating func connectionEnded() { mark = nil }
}
