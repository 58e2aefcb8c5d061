/// What the processes of an application need of the system to share a directory. Each part is a small protocol: another system
/// has other means for the same, and an application may bring its own.
public struct Platform: Sendable {
    /// How one process tells another to look.
    public var signals: any Signals
    /// How the directory is kept from others.
    public var protection: any FileProtection

    /// One of its parts.
    public init(signals: any Signals, protection: any FileProtection) {
        self.signals = signals
        self.protection = protection
    }

    /// Unix sockets, and directories for their owner alone.
    public static let linux = Platform(signals: SocketSignals(), protection: OwnerOnly())
}
