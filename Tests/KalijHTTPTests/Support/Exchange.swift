import KalijHTTP
import KalijPushLab
import KalijTransport
import TestSupport

/// A client, its stand-in, the line between both, and the client's loop.
final class Exchange {
    let loop: EventLoop
    let client: HTTPClient
    let server: LabServer
    private let link: LabSlowLink?
    private(set) var notices: [String] = []
    private(set) var outcomes: [String: HTTPOutcome] = [:]
    private(set) var order: [String] = []

    init(
        limits: HTTPLimits = HTTPLimits(), streams: UInt32 = 100, window: Int32 = 65_535,
        identity: TLSIdentity? = nil, clientAuthority: String? = nil, opening: LabOpening = .usual,
        roundTrip: Double = 0,
        answer: @escaping @Sendable (LabRequest) -> LabReply
    ) throws {
        let keys = try TestKeys.shared.get()
        var options = LabServer.Options(certificate: keys.path("server.pem"), key: keys.path("server.key"))
        options.streams = streams
        options.window = window
        options.clientAuthority = clientAuthority
        options.opening = opening
        server = try LabServer(options, answer: answer)
        link = roundTrip > 0 ? try LabSlowLink(to: server.port, delay: roundTrip / 2) : nil
        loop = try EventLoop()
        final class Relay { weak var exchange: Exchange? }
        let relay = Relay()
        client = HTTPClient(
            loop: loop, origin: HTTPOrigin(host: "localhost", port: link?.port ?? server.port),
            tls: TLSSettings(serverName: "localhost", caFile: keys.path("server.pem"), identity: identity),
            limits: limits
        ) { relay.exchange?.notices.append("\($0)") }
        relay.exchange = self
    }

    deinit {
        client.close()
        link?.stop()
        server.stop()
    }

    /// Sends a request with the same path and name.
    func send(_ path: String, fields: [HTTPField] = [], body: [UInt8] = [1], timeout: Double = hangLimit) {
        client.perform(HTTPRequest(path: path, fields: fields, body: body), timeout: timeout) { [self] outcome in
            outcomes[path] = outcome
            order.append(path)
        }
    }

    /// Turns the loop until there are so many outcomes; false if it hangs.
    @discardableResult
    func wait(for count: Int) -> Bool { wait { self.outcomes.count >= count } }

    /// Turns the loop until a condition holds; false if it hangs.
    @discardableResult
    func wait(until condition: @escaping () -> Bool) -> Bool {
        turn(for: hangLimit, or: condition)
        return condition()
    }

    /// Turns the loop for a while, to see that nothing happens, or until a condition holds.
    func turn(for seconds: Double, or condition: @escaping () -> Bool = { false }) {
        let end = loop.now + seconds
        func check() {
            if condition() || loop.now >= end { return loop.stop() }
            loop.schedule(after: 0.002) { check() }
        }
        check()
        loop.run()
    }

    func status(_ path: String) -> Int? { try? outcomes[path]?.get().status }

    func failure(_ path: String) -> HTTPFailure.Code? {
        if case .failure(let failure) = outcomes[path] { return failure.code }
        return nil
    }
}
