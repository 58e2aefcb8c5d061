import Glibc

/// An event of an account's stream-management session, as seen by the server.
public enum SessionEvent: Equatable, Sendable {
    /// A resource was bound: a new session.
    case bound
    /// `<resumed/>` was sent.
    /// - unacknowledged: how many stanzas, sent before the connection ended, the client had not acknowledged by then; nil if the
    ///   log does not record this.
    /// - queued: these and later stanzas; nil if `unacknowledged` is exact, otherwise `unacknowledged` is the least.
    case resumed(unacknowledged: Int?, queued: Int?)
    /// The connection ended; the session waits to be resumed.
    case hibernated
    /// `<resume/>` was answered with `<failed/>`.
    case refused
    /// The server does not permit the session to be resumed any more.
    case lost(LossCause)

    var isLoss: Bool {
        if case .lost = self { true } else { false }
    }
}

/// Why a session could not be resumed.
public enum LossCause: String, Sendable, CaseIterable, Codable {
    /// Not resumed in time.
    case expired
    /// The server was ended.
    case restarted
    /// More stanzas were unacknowledged than the server keeps.
    case queueLimit
}

/// An event with its moment.
public struct SeenEvent: Equatable, Sendable {
    /// Seconds since 1970: the server's own time if precise, otherwise the time of reading.
    public let at: Double
    public let event: SessionEvent
}

/// Reads the sessions of an account from a server's log while the log grows.
public protocol SessionLogReader: Sendable {
    /// The events since the last call, oldest first.
    mutating func newEvents() -> [SeenEvent]
}

/// Seconds since 1970.
func wallClock() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
