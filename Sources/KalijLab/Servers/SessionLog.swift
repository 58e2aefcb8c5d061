import Glibc

/// One thing that happened to an account's stream-management session, as the server saw it.
public enum SessionEvent: Equatable, Sendable {
    /// A resource was bound: a new session.
    case bound
    /// `<resumed/>` was sent.
    /// - unacknowledged: how many stanzas, sent before the connection ended, the client had not acknowledged by then;
    ///   nil if the log does not tell.
    /// - queued: those, and what has come since; nil if `unacknowledged` is exact, otherwise that is the least.
    case resumed(unacknowledged: Int?, queued: Int?)
    /// The connection ended; the session waits to be resumed.
    case hibernated
    /// `<resume/>` was answered with `<failed/>`.
    case refused
    /// The server will not let the session be resumed any more.
    case lost(LossCause)
}

/// Why a session could not be resumed.
public enum LossCause: String, Sendable, CaseIterable, Codable {
    /// Nobody resumed it in time.
    case expired
    /// The server was ended.
    case restarted
    /// More stanzas were unacknowledged than the server keeps.
    case queueLimit
}

/// An event with its moment.
public struct SeenEvent: Equatable, Sendable {
    /// Seconds since 1970: the server's own time if its log is precise, otherwise when the line was read.
    public let at: Double
    public let event: SessionEvent
}

/// Reads the sessions of one account from a server's log while it grows.
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
