/// What a ``Connection`` tells. Nothing is told from within a call to the connection, and nothing after
/// ``failed(_:)``, ``closed(_:)``, ``Connection/close(_:)`` or ``Connection/abort()``.
public enum ConnectionEvent {
    /// The stream may begin; with what direct TLS came to, if it was that.
    case connected(Endpoint, TLSInfo?)
    /// ``Connection/startTLS()`` has succeeded.
    case secured(TLSInfo)
    /// Up to 16 KiB. The bytes are lent for the call.
    case received(UnsafeRawBufferPointer)
    /// The kernel has taken everything that was sent.
    case drained
    /// Nothing could be reached, or STARTTLS failed: everything that was tried, and why it failed.
    case failed(ConnectFailure)
    /// The connection has ended; nil if the peer ended it in order.
    case closed(TransportError?)
}
