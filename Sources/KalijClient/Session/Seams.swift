import KalijSteps
import KalijRoles
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
    /// Seconds on the clock that it goes by.
    var now: Double { get }
    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer
    func enqueue(_ body: @escaping () -> Void)
}

extension EventLoop: Schedule {}

/// What an engine turns on: its event loop.
protocol EngineLoop: Schedule {
    func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch
    func run()
    func stop()
}

extension EventLoop: EngineLoop {}

/// What an engine stands on: the system; or what the simulator has in its place, which so runs the engine itself.
struct Environment {
    let loop: any EngineLoop
    /// From 0 up to but not including 1.
    let random: () -> Double
    /// Makes a connection for an account, which is still to be opened.
    let connect: (Account, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    /// Kills who is stopped within a transaction of the database at a path, and would be waited for without end.
    let killWriter: (String) -> Void

    static func system(_ loop: EventLoop) -> Environment {
        Environment(
            loop: loop, random: { .random(in: 0..<1) },
            connect: { Connection(loop: loop, target: $0.target, tls: $0.tls, $1) },
            killWriter: { _ = FrozenWriter.kill(database: $0, ifStopped: true) })
    }
}
