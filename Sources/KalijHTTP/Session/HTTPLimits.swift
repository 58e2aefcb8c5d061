import KalijTransport

/// The limits of a client for itself and its peer.
public struct HTTPLimits: Sendable {
    /// Connections to the origin at the same time.
    public var connections = 4
    /// Streams on a connection; the peer announces its limit, and this is only the bound of that.
    public var streams = 2_000
    /// Bytes that the peer may send on a connection before they are read.
    public var windowBytes = 1 << 20
    /// Requests waiting for a stream.
    public var queue = 10_000
    /// Bytes of a response's body.
    public var bodyBytes = 64 * 1024
    /// Bytes of a response's fields.
    public var fieldBytes = 16 * 1024
    /// Seconds without a sign of the peer before a PING.
    public var pingAfter = 60.0
    /// Seconds until the answer to a PING.
    public var pingLimit = 10.0
    /// Seconds without a request before a connection is closed.
    public var idle = 600.0
    /// The longest wait before the next attempt to connect, in seconds; the first is at most a second.
    public var backoff = 30.0
    /// Whether a server may choose HTTP/1.1.
    public var version1 = false
    /// Which addresses the origin's name may resolve to.
    public var addresses = AllowedAddresses.all
    /// How long connecting may take.
    public var connecting = ConnectionLimits()

    public init() {}
}
