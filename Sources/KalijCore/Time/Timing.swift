/// The engine's timeouts, in seconds. None affects correctness: whatever times out is retried.
public struct Timing: Sendable {
    /// The timeout for establishing a session, starting with the connection.
    public var negotiation: Double = 60
    /// The timeout for a response to `<r/>`.
    public var acknowledgement: Double = 60
    /// The interval of keepalives on an idle connection.
    public var keepalive: Double = 300
    /// The timeout for a response to `<r/>` after the network changed.
    public var networkCheck: Double = 10
    /// The delay before the archive is read once more after a bind, or queried again if the query failed.
    public var archiveRetry: Double = 5
    /// How long the results of an archive page wait for the rest of the page. Results are of no use before the end of the page,
    /// and a transaction for each of the server's writes costs twice as much as one for the page.
    public var page: Double = 0.25
    /// The timeout for reaching the server to end a session there, when an account is logged out.
    public var logout: Double = 5
    /// How long a session must last before a reconnection without the accumulated delay of earlier failures.
    public var stable: Double = 10
    /// The longest delay between two connection attempts.
    public var longestRetry: Double = 300
    /// The longest delay between two attempts to write to a blocked database.
    public var longestStorageRetry: Double = 30

    /// Creates the default values for a phone or a desktop.
    public init() {}
}
