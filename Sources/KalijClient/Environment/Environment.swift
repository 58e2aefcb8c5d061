import KalijCore
import KalijCoordination
import KalijTransport

/// A connection as an account's driver uses it. A program uses only `KalijTransport.Connection`. The simulator substitutes
/// another type, and so runs everything above unchanged.
protocol StreamConnection: AnyObject {
    /// Bytes that the system has not accepted yet.
    var unsent: Int { get }
    var isReading: Bool { get set }
    /// Bytes sent and received on the socket since it was opened, TLS included.
    var traffic: Traffic { get }
    /// The round trip as measured by the system; nil if the system does not report it.
    var roundTrip: RoundTrip? { get }
    func open()
    func startTLS()
    func send(_ bytes: [UInt8])
    func close(_ finished: (() -> Void)?)
}

extension Connection: StreamConnection {}

/// The part of the event loop that schedules work on the engine's thread.
protocol Scheduler: AnyObject {
    /// Seconds on the loop's own clock.
    var now: Double { get }
    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer
    func enqueue(_ body: @escaping () -> Void)
}

extension EventLoop: Scheduler {}

/// The event loop of an engine.
protocol EngineLoop: Scheduler {
    func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch
    func run()
    func stop()
}

extension EventLoop: EngineLoop {}

/// The surroundings of an engine: the system; or the simulator's replacement, under the unchanged engine.
struct Environment {
    let loop: any EngineLoop
    /// A random number from 0 up to but not including 1.
    let random: () -> Double
    /// Creates a connection for an account. The caller opens it.
    let connect: (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    /// Kills a process that is stopped within a transaction of the database at a path: waiting for it would never end.
    let killWriter: (String) -> Void
    /// Transfers files.
    let files: FileEnvironment

    static func system(_ loop: EventLoop) -> Environment {
        Environment(
            loop: loop, random: { .random(in: 0..<1) },
            connect: { Connection(loop: loop, target: $0, tls: $1, $2) },
            killWriter: { _ = FrozenWriter.kill(database: $0, ifStopped: true) }, files: .system(loop))
    }
}
