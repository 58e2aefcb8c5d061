/// Linux's: connections to Unix sockets in the directory (``Doorbell``).
public struct SocketSignals: Signals {
    /// The same for all directories.
    public init() {}

    public func listener(directory: String, at address: Address) throws -> any SignalListener {
        try Doorbell.Listener(directory: directory, at: address)
    }

    public func bell(directory: String, at address: Address) -> (any DoorbellConnection)? {
        Doorbell.bell(directory: directory, at: address)
    }
}
