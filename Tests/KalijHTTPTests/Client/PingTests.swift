import KalijHTTP
import KalijPushLab
import KalijTransport
import Testing

@Suite("Idle connections")
struct PingTests {
    @Test("PING when idle: answered, the connection stays; after the idle time the connection is closed")
    func idle() throws {
        var limits = HTTPLimits()
        limits.pingAfter = 0.1
        limits.pingLimit = 3
        limits.idle = 4
        let exchange = try Exchange(limits: limits) { _ in .respond(status: 200) }
        exchange.send("/1")
        #expect(exchange.wait(for: 1))
        let start = exchange.loop.now
        #expect(exchange.client.openConnections == 1)
        #expect(exchange.wait { exchange.client.openConnections == 0 })
        // Later than an unanswered PING would have ended the connection.
        #expect(exchange.loop.now - start > 3.5)
        #expect(!exchange.notices.contains { $0.contains("failed") })
    }

    @Test("a handshake that does not end in h2 is no connection")
    func clientCertificateMissing() throws {
        let keys = try TestKeys.shared.get()
        let exchange = try Exchange(clientAuthority: keys.path("client.pem")) { _ in .respond(status: 200) }
        exchange.send("/1")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/1") == .unreachable || exchange.failure("/1") == .connectionLost)
    }
}
