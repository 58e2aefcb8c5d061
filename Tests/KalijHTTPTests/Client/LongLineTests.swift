import KalijHTTP
import KalijPushLab
import KalijTransport
import Testing

@Suite("A provider at the end of a long line", .serialized)
struct LongLineTests {
    /// As many bytes as a push to Apple has.
    private static let body = [UInt8](repeating: 7, count: 110)

    private func exchange(
        _ roundTrip: Double, streams: UInt32, connections: Int, window: Int32 = 1 << 20
    ) throws -> Exchange {
        var limits = HTTPLimits()
        limits.connections = connections
        return try Exchange(limits: limits, streams: streams, window: window, roundTrip: roundTrip) { _ in
            .respond(status: 200)
        }
    }

    /// How many requests are answered in the time of a round trip, once all connections stand.
    /// - Parameter enough: a busy machine gets up to five rounds to show so many.
    private func rate(
        _ roundTrip: Double, streams: UInt32, connections: Int = 1, window: Int32 = 1 << 20, enough: Double
    ) throws -> Double {
        let exchange = try exchange(roundTrip, streams: streams, connections: connections, window: window)
        let most = Int(streams) * connections
        var sent = 0
        func send(_ count: Int) {
            for number in sent..<sent + count { exchange.send("/\(number)", body: Self.body, timeout: 20) }
            sent += count
        }
        // A connection is made when the others are full.
        exchange.wait(seconds: 10) {
            let missing = most + 1 - exchange.client.pending
            if exchange.client.openConnections < connections, missing > 0 { send(missing) }
            return exchange.client.openConnections == connections
        }
        try #require(exchange.client.openConnections == connections)
        var best = 0.0
        for _ in 1...5 where best < enough {
            try #require(exchange.wait(for: sent, seconds: 10))
            let began = exchange.loop.now
            send(most * 2)
            try #require(exchange.wait(for: sent, seconds: 10))
            best = max(best, Double(most * 2) * roundTrip / (exchange.loop.now - began))
        }
        #expect(exchange.outcomes.values.allSatisfy { (try? $0.get().status) == 200 })
        return best
    }

    @Test("as many requests a round trip as the peer allows in its SETTINGS, and no more", arguments: [0.1, 0.5])
    func settings(roundTrip: Double) throws {
        let hundred = try rate(roundTrip, streams: 100, enough: 70)
        #expect(hundred >= 70 && hundred <= 100)
        let thousand = try rate(roundTrip, streams: 1000, enough: 700)
        #expect(thousand >= 700 && thousand <= 1000)
    }

    @Test("four connections, up to four times as many requests a round trip")
    func connections() throws {
        let hundred = try rate(0.1, streams: 100, connections: 4, enough: 280)
        #expect(hundred >= 280 && hundred <= 400)
        // With the standard's window, a connection has room for 600 bodies at most.
        let small = try rate(0.1, streams: 1000, connections: 4, window: 65_535, enough: 700)
        #expect(small >= 700)
    }

    @Test("RFC 9113, 6.9.1: what has no room in a connection's window goes to another connection")
    func window() throws {
        let exchange = try exchange(0.1, streams: 1000, connections: 2, window: 65_535)
        for number in 0..<900 { exchange.send("/\(number)", body: Self.body) }
        #expect(exchange.wait(for: 900, seconds: 10))
        #expect((0..<900).allSatisfy { exchange.status("/\($0)") == 200 })
        #expect(exchange.server.connections == 2)
    }

    @Test("RFC 9113, 6.9.1: more bodies than the window has room for, on one connection")
    func waiting() throws {
        let exchange = try exchange(0.1, streams: 1000, connections: 1, window: 65_535)
        for number in 0..<900 { exchange.send("/\(number)", body: Self.body) }
        #expect(exchange.wait(for: 900, seconds: 10))
        #expect((0..<900).allSatisfy { exchange.status("/\($0)") == 200 })
    }
}
