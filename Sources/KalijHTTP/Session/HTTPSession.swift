/// The client's side of a connection, of either version of HTTP, without socket and clock: bytes in, bytes out.
protocol HTTPSession: AnyObject {
    /// Whether the peer has announced its limit for requests.
    var hasSettings: Bool { get }
    /// Whether the peer takes no new requests.
    var isGoingAway: Bool { get }
    /// How many more requests the peer takes at present.
    var capacity: Int { get }
    /// Whether the connection has nothing left to do.
    var isOver: Bool { get }
    /// Whether the peer can be pinged, and requests given up without giving up the connection.
    var canPing: Bool { get }

    /// Begins a request.
    /// - Returns: the number of the request on this connection; nil if the request is refused.
    func submit(_ request: HTTPRequest, authority: String) -> Int32?
    /// Gives a request up. There is no event.
    func cancel(_ stream: Int32)
    func ping()
    /// Ends the session; for a connection that is no longer needed.
    func terminate()
    /// The events since the last call, in order.
    func drainEvents() -> [HTTPSessionEvent]
    /// Takes bytes of the peer.
    /// - Throws: `HTTPFailure` (`connectionLost`) if the connection is unusable afterwards.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure)
    /// The peer sends nothing more: an answer may end so.
    func finish()
    /// The bytes to send now.
    func drainOutput() throws(HTTPFailure) -> [UInt8]
}

/// News from the peer.
enum HTTPSessionEvent {
    /// The outcome of a request.
    case ended(stream: Int32, HTTPOutcome)
    /// The peer's SETTINGS were received, for the first time or anew.
    case settings
    /// The peer takes more bytes on the connection.
    case window
    /// The peer takes no new streams.
    case goAway(lastStream: Int32, code: UInt32, reason: String)
    /// A PING was answered.
    case pong
}
