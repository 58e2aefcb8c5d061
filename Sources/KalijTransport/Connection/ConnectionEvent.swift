/// The events of a ``Connection``. No event is emitted from within a call to the connection, and none after ``failed(_:)``,
/// ``closed(_:)``, ``Connection/close(_:)`` or ``Connection/abort()``.
public enum ConnectionEvent {
    /// The stream may begin; with the result of direct TLS, if used.
    case connected(Endpoint, TLSInfo?)
    /// ``Connection/startTLS()`` has succeeded.
    case secured(TLSInfo)
    /// Up to 16 KiB. The bytes are lent for the call.
    case received(UnsafeRawBufferPointer)
    /// The server has given a ticket, for ``TLSSettings/ticket`` of a later connection. Only if
    /// ``TLSSettings/wantsTickets`` is set, in TLS 1.3; at most two, of 16 KiB each at most. Servers give tickets
    /// with their first bytes after the handshake, or later.
    case ticket([UInt8])
    /// The kernel has taken all sent bytes.
    case drained
    /// Nothing could be reached, or STARTTLS failed: all attempts, with the reasons.
    case failed(ConnectFailure)
    /// The connection has ended; nil if the peer ended the connection in order.
    case closed(TransportError?)
}
