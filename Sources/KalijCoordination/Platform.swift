/// The parts of the system that the processes of an application need to share a directory. Each part is a small protocol: another
/// system has other means, and an application may bring its own.
public struct Platform: Sendable {
    /// How a process signals another to read.
    public var signals: any Signals
    /// How the directory is kept from others.
    public var protection: any FileProtection

    /// Makes a platform.
    public init(signals: any Signals, protection: any FileProtection) {
        self.signals = signals
        self.protection = protection
    }

    /// Unix sockets, and directories for their owner alone.
    public static let linux = Platform(signals: SocketSignals(), protection: OwnerOnly())
}
