/// How one process of a directory tells another to look into the ``Mailbox`` or the database: the signal carries nothing.
///
/// On Linux it is a Unix socket (``SocketSignals``), which also tells of a ringer's death. Apple's systems have Darwin
/// notifications (`notify_post`, `notify_register_file_descriptor`), named for the directory and the address. There a listener
/// cannot know that a ringer has died between its commit and its post: it has to look, too, whenever it begins to listen and when
/// the system starts or thaws it.
public protocol Signals: Sendable {
    /// Listens at `address` of `directory`, in place of whoever listened there before.
    func listener(directory: String, at address: Address) throws -> any SignalListener

    /// Takes hold of the bell of the process that listens at `address` of `directory`, before something is committed for it.
    /// - Returns: a bell that rings when it is let go; nil if nobody listens.
    func bell(directory: String, at address: Address) -> (any Bell)?
}

/// The end of who is told to look.
public protocol SignalListener: AnyObject {
    /// Readable when somebody is there; for an event loop.
    var descriptor: Int32 { get }

    /// The next one who is there.
    /// - Returns: a descriptor that comes to its end when whoever rings has committed, or died; at its end already where the
    ///   system only says that somebody has. Closing it answers. Nil if nobody is there. The caller closes it.
    func accept() -> Int32?
}

/// The end of who tells another one to look: rings when it is let go, at the latest.
public protocol Bell: AnyObject {
    /// Rings, and waits for the answer: to be called after the commit.
    func ring()

    /// Waits until the listener has answered, or is dead.
    /// - Returns: false if it does not within `seconds`.
    @discardableResult
    func awaitHangUp(within seconds: Double) -> Bool
}

/// Linux's: connections to Unix sockets in the directory (``Doorbell``).
public struct SocketSignals: Signals {
    /// The same for all directories.
    public init() {}

    public func listener(directory: String, at address: Address) throws -> any SignalListener {
        try Doorbell.Listener(directory: directory, at: address)
    }

    public func bell(directory: String, at address: Address) -> (any Bell)? {
        Doorbell.bell(directory: directory, at: address)
    }
}
