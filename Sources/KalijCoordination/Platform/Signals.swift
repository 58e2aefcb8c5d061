/// How a process of a directory signals another to read the ``Mailbox`` or the database: the signal has no content.
///
/// On Linux a Unix socket (``SocketSignals``), which also reports the death of the other process. Apple's systems have Darwin
/// notifications (`notify_post`, `notify_register_file_descriptor`), named for the directory and the address. There a listener
/// cannot detect that a process has died between its commit and its post: the listener also has to read whenever it begins to
/// listen and when the system starts or thaws the process.
public protocol Signals: Sendable {
    /// Listens at `address` of `directory`, replacing any earlier listener.
    func listener(directory: String, at address: Address) throws -> any SignalListener

    /// Connects to the listener at `address` of `directory`, before something is committed for that listener.
    /// - Returns: a connection that signals when freed; nil if nobody listens.
    func bell(directory: String, at address: Address) -> (any DoorbellConnection)?
}

/// The listening end of signals.
public protocol SignalListener: AnyObject {
    /// Readable when a connection is pending; for an event loop.
    var descriptor: Int32 { get }

    /// The next waiting connection.
    /// - Returns: a descriptor that reaches its end when the other process has committed, or died; at its end already on systems
    ///   with signals only. Closing the descriptor answers. Nil if no connection is pending. The caller closes the descriptor.
    func accept() -> Int32?
}

/// The signalling end: signals when freed, at the latest.
public protocol DoorbellConnection: AnyObject {
    /// Signals, and keeps the connection for the answer: to be called after the commit.
    func ring()

    /// Waits until the listener has answered, or is dead.
    /// - Returns: false if there was no answer within `seconds`.
    @discardableResult
    func awaitHangUp(within seconds: Double) -> Bool
}
