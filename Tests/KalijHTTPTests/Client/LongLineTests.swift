import KalijHTTP
import KalijPushLab
import KalijTransport
import Testing

@Suite("A provider at the end of a long line", .serialized)
struct LongLineTests {
    /// As many bytes as a push to Apple has.
    private static let body = [UInt8](repeating: 7, count: 110)

    private func exchange(
        streams: UInt32, connections: Int, window: Int32 = 1 << 20, answer: LabReply = .respond(status: 200)
    ) throws -> Exchange {
        var limits = HTTPLimits()
        limits.connections = connections
        return try Exchange(limits: limits, streams: streams, window: window, roundTrip: 0.1) { _ in answer }
    }

    /// How many of twice as many requests as the peer allows reach a peer that answers none: so many go out in the time of a round trip.
    private func atOnce(streams: UInt32, connections: Int = 1) throws -> Int {
        let exchange = try exchange(streams: streams, connections: connections, answer: .silence)
        let most = Int(streams) * connections
        for number in 0..<2 * most { exchange.send("/\(number)", body: Self.body) }
        exchange.wait { exchange.server.requests >= most }
        // Nothing else comes that the next request could be compared with.
        exchange.turn(for: 0.3)
        return exchange.server.requests
    }

    @Test("as many requests a round trip as the peer allows in its SETTINGS, and no more", arguments: [100, 1000])
    func settings(streams: UInt32) throws {
        #expect(try atOnce(streams: streams) == Int(streams))
    }

    @Test("four connections, four times as many requests a round trip")
    func connections() throws {
        #expect(try atOnce(streams: 100, connections: 4) == 400)
    }

    @Test("RFC 9113, 6.9.1: what has no room in a connection's window goes to another connection")
    func window() throws {
        let exchange = try exchange(streams: 1000, connections: 2, window: 65_535)
        for number in 0..<900 { exchange.send("/\(number)", body: Self.body) }
        #expect(exchange.wait(for: 900))
        #expect((0..<900).allSatisfy { exchange.status("/\($0)") == 200 })
        #expect(exchange.server.connections == 2)
    }

    @Test("RFC 9113, 6.9.1: more bodies than the window has room for, on one connection")
    func waiting() throws {
        let exchange = try exchange(streams: 1000, connections: 1, window: 65_535)
        for number in 0..<900 { exchange.send("/\(number)", body: Self.body) }
        #expect(exchange.wait(for: 900))
        #expect((0..<900).allSatisfy { exchange.status("/\($0)") == 200 })
    }
}
