import KalijTransport

/// A connection as an account's driver uses it. `KalijTransport.Connection` is the only one in a program; the simulator
/// brings another, and so runs everything above it unchanged.
protocol StreamConnection: AnyObject {
    /// Bytes that the system has not taken yet.
    var unsent: Int { get }
    var isReading: Bool { get set }
    func open()
    func startTLS()
    func send(_ bytes: [UInt8])
    func close(_ finished: (() -> Void)?)
}

extension Connection: StreamConnection {}

/// What does things later on the engine's thread: its event loop.
protocol Schedule: AnyObject {
    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer
    func enqueue(_ body: @escaping () -> Void)
}

extension EventLoop: Schedule {}
