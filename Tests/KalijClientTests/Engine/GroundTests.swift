import KalijCoordination
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
@testable import KalijTransport

/// An engine plans all work on its own loop: in the simulator no other loop turns.
@Suite struct EnvironmentTests {
    /// A loop that only remembers the planned times, in seconds.
    private final class Planned: EngineLoop {
        private(set) var seconds: [Double] = []
        private var watches: [Watch] = []
        var now: Double { 0 }

        func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer {
            self.seconds.append(seconds)
            return Timer(loop: nil, deadline: seconds, order: UInt64(self.seconds.count), body: body)
        }

        func enqueue(_ body: @escaping () -> Void) {}

        func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch {
            let watch = Watch(loop: nil, descriptor: fd, token: 0, interest: interest, handler: handler)
            watches.append(watch)
            return watch
        }

        func run() {}
        func stop() {}
    }

    private final class Unconnected: StreamConnection {
        let unsent = 0
        let traffic = Traffic()
        let roundTrip: RoundTrip? = nil
        var isReading = true
        func open() {}
        func startTLS() {}
        func send(_ bytes: [UInt8]) {}
        func close(_ finished: (() -> Void)?) {}
    }

    @Test(
        "after a resumption the connection is checked once more on the engine's loop, because the server may have forgotten it"
    )
    func doubt() throws {
        let drive = try EngineFixture(port: 1)
        var taking = DriverTakeover(directory: drive.directory, role: .main, clock: .system)
        let driven = try taking.run()
        let planned = Planned()
        let loop = try EventLoop()
        let engine = try Engine(
            drive.directory, options: .init(), clock: .system, since: taking.begin, features: Features(),
            loop: loop,
            environment: Environment(
                loop: planned, random: { 0 }, connect: { _, _, _ in Unconnected() }, killWriter: { _ in },
                resources: ServiceResources()),
            driven: driven, onEvent: { _ in })
        try engine.begin()
        let account = try #require(engine.drivers.values.first?.account.jid)
        let before = planned.seconds.count
        engine.wakeSaw(EngineEvent(account: account, at: 0, content: Online(jid: "\(account)/test", resumed: true)))
        #expect(planned.seconds.dropFirst(before) == [5])
    }
}
