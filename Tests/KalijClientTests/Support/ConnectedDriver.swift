import KalijStream
import KalijTransport
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A driver in the middle of a session, on a connection that is only noted down.
final class ConnectedDriver {
    let harness: StepHarness
    let wire: Wire
    let driver: AccountDriver
    let loop: EventLoop
    private(set) var told: [String] = []
    var onEvent: (EngineEvent) -> Void = { _ in }

    /// - Parameter page: how long results wait for the rest of their page, in seconds.
    init(_ harness: StepHarness? = nil, page: Double = 0, timing: Timing = EngineFixture.timing) throws {
        var timing = timing
        timing.page = page
        self.harness = try harness ?? StepHarness()
        loop = try EventLoop()
        let wire = Wire()
        self.wire = wire
        var report: (EngineEvent) -> Void = { _ in }
        let context = DriverContext(
            loop: loop, runner: self.harness.runner, timing: timing, report: { report($0) },
            fatal: { Issue.record($0) }, changed: {}, awaiter: PromiseAwaiter { _ in }, random: { 0.5 },
            connect: { _, _, events in
                wire.events = events
                return wire
            })
        driver = AccountDriver(self.harness.account, context: context, careful: false)
        resume()
        report = { [weak self] event in
            guard !(event.content is UnreadChanged) else { return }
            self?.told.append(event.short)
            self?.onEvent(event)
        }
    }

    /// Connects and goes on with a session in which so many stanzas were handled.
    func resume(handled: HandledCount = .zero) {
        driver.connect()
        driver.begin(StreamManagement(handled: handled), "juliet@example.org/balcony", isResumed: true)
        receive("<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>")
    }

    /// The server says that, and the loop turns.
    func receive(_ text: String) { receive([Array(text.utf8)]) }

    func receive(_ chunks: [[UInt8]]) {
        for chunk in chunks { wire.say(chunk) }
        turn(for: 0.01) { false }
    }

    /// The loop turns until `isEnough`, or for `seconds`, to see that nothing happens.
    func turn(for seconds: Double = hangLimit, until isEnough: @escaping () -> Bool) {
        let patience = loop.schedule(after: seconds) { [loop] in loop.stop() }
        func look() {
            if isEnough() { loop.stop() } else { loop.schedule(after: 0.005) { look() } }
        }
        look()
        loop.run()
        patience.cancel()
    }
}

/// A connection that notes what is sent.
final class Wire: StreamConnection {
    var events: (ConnectionEvent) -> Void = { _ in }
    var onSend: (String) -> Void = { _ in }
    private(set) var sent: [String] = []
    var unsent = 0
    let traffic = Traffic()
    let roundTrip: RoundTrip? = nil
    var isReading = true

    func say(_ bytes: [UInt8]) { bytes.withUnsafeBytes { events(.received($0)) } }

    func open() {}
    func startTLS() {}
    func send(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        sent.append(text)
        onSend(text)
    }
    func close(_ finished: (() -> Void)?) {
        events = { _ in }
        finished?()
    }
}
