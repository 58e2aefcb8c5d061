import KalijCore
import KalijCoordination
import KalijTransport

/// The event loop of an engine.
package protocol EngineLoop: Scheduler {
    func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch
    func run()
    func stop()
}

extension EventLoop: EngineLoop {}

/// The surroundings of an engine: the system; or the simulator's replacement, under the unchanged engine.
package struct Environment {
    package let loop: any EngineLoop
    /// A random number from 0 up to but not including 1.
    package let random: () -> Double
    /// Creates a connection for an account. The caller opens it.
    package let connect: (ConnectionTarget, TLSSettings, @escaping (ConnectionEvent) -> Void) -> any StreamConnection
    /// Kills a process that is stopped within a transaction of the database at a path: waiting for it would never end.
    package let killWriter: (String) -> Void
    /// What the services of features use.
    package let resources: ServiceResources

    /// The system.
    /// - Parameter resources: what the services of features use.
    package static func system(_ loop: EventLoop, _ resources: ServiceResources) -> Environment {
        Environment(
            loop: loop, random: { .random(in: 0..<1) },
            connect: { Connection(loop: loop, target: $0, tls: $1, $2) },
            killWriter: { _ = FrozenWriter.kill(database: $0, ifStopped: true) }, resources: resources)
    }
}
