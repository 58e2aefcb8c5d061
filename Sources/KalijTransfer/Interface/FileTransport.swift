import KalijTransport

/// Moves files over HTTP. ``CurlTransport`` is the type of Linux; a platform with a transfer service of its own brings
/// another, and the simulator too.
///
/// Belongs to a thread, as do its transfers; events are delivered on that thread.
public protocol FileTransport: AnyObject {
    /// Begins a transfer.
    /// - Parameters:
    ///   - body: the body of a PUT; nil for the other methods.
    ///   - event: called from the loop, never from within this call. The handler may call everything of the transfer.
    /// - Returns: the transfer, which continues whether the caller keeps it or not.
    func start(
        _ request: TransferRequest, body: (any UploadBody)?, _ event: @escaping (TransferEvent) -> Void
    ) -> any Transfer
}

/// The bytes of a PUT, read once from the first to the last.
public protocol UploadBody: AnyObject {
    /// All bytes, at least 1; does not change.
    var length: Int64 { get }
    /// Fills the buffer with the next bytes.
    /// - Returns: the number of bytes, from 1 to the size of the buffer; 0 only after the last byte.
    /// - Throws: anything; the transfer ends with ``TransferFailure/Code/source``.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A transfer under way. Calls after the end do nothing.
public protocol Transfer: AnyObject {
    /// Bytes that were written to the connection, and that the other side has not acknowledged yet; 0 if unknown.
    var unacknowledged: Int64 { get }
    /// Stops reading and writing until ``resume()``. A paused transfer is never too slow.
    func pause()
    func resume()
    /// Sends the last block of a PUT, after ``TransferEvent/seal``.
    func releaseLastBlock()
    /// Sets how many bytes the system may hold for sending (SO_SNDBUF), now or as soon as there is a socket.
    func limitSendBuffer(to bytes: Int)
    /// Ends the transfer at once, without any more events. The connection is given up with a reset: nothing more
    /// leaves, and the server does not see a proper end.
    func cancel()
}

/// The event loop, as far as transfers need it.
public protocol TransferLoop: AnyObject {
    /// Seconds on the loop's own clock.
    var now: Double { get }
    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer
    func enqueue(_ body: @escaping () -> Void)
    func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch
}

extension EventLoop: TransferLoop {}

extension Transfer {
    public var unacknowledged: Int64 { 0 }
}
