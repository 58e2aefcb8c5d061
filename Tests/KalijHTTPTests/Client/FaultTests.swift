import KalijHTTP
import KalijPushLab
import KalijTransport
import Testing

@Suite("Faults of the server")
struct FaultTests {
    @Test("a stream above last-stream-id goes at once to a new connection (RFC 9113, 6.8); streams below are answered")
    func goAway() throws {
        var limits = HTTPLimits()
        limits.connections = 1
        let exchange = try Exchange(limits: limits) { request in
            guard request.connection == 1 else { return .respond(status: 200, body: "second") }
            return request.path == "/1"
                ? .goAway(including: true, reason: "{\"reason\":\"Shutdown\"}", then: .respond(status: 201))
                : .later(0.2, .respond(status: 202))
        }
        for number in 0..<4 { exchange.send("/\(number)") }
        #expect(exchange.wait(for: 4))
        #expect(exchange.status("/0") == 202)
        #expect(exchange.status("/1") == 201)
        #expect(exchange.status("/2") == 200)
        #expect(exchange.status("/3") == 200)
        #expect(exchange.server.connections == 2)
        #expect(exchange.notices.contains { $0.contains("Shutdown") })
    }

    @Test("a server that closes each new connection is not asked for the next one without a pause")
    func closing() throws {
        let exchange = try Exchange(opening: .goAway) { _ in .respond(status: 200) }
        exchange.send("/1")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/1") == .unreachable)
        #expect(exchange.server.connections == 1)
    }

    @Test("a server whose first frame breaks HTTP/2 gets a pause, and the operator a word; also after its SETTINGS")
    func broken() throws {
        for hasSettings in [false, true] {
            let exchange = try Exchange(opening: .broken(hasSettings: hasSettings)) { _ in .respond(status: 200) }
            for number in 0..<10 {
                exchange.send("/\(number)", timeout: 2)
                #expect(exchange.wait(for: number + 1))
            }
            // Ten failures take milliseconds; the pause is drawn from a second.
            #expect(exchange.server.connections <= 3, "settings first: \(hasSettings)")
            #expect(exchange.failure("/9") == .unreachable)
            #expect(exchange.notices.contains { $0.contains("not HTTP/2") })
        }
    }

    @Test("a server that ends each connection in order and answers nothing gets pauses, too")
    func unansweredGoAway() throws {
        let exchange = try Exchange { _ in .goAway(including: true, reason: "", then: .hangUp) }
        for number in 0..<10 {
            exchange.send("/\(number)")
            #expect(exchange.wait(for: number + 1))
        }
        #expect(exchange.server.connections <= 3)
    }

    @Test("RFC 9113, 8.7: REFUSED_STREAM is safe to send again; three times at most")
    func refused() throws {
        let exchange = try Exchange { _ in .reset(code: 7) }
        exchange.send("/never")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/never") == .unprocessed)
        #expect(exchange.server.requests == 4)
    }

    @Test("a reset stream is reported and not sent again: the server may have acted on the request")
    func reset() throws {
        let exchange = try Exchange { _ in .reset(code: 2) }
        exchange.send("/x")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/x") == .reset)
        #expect(exchange.server.requests == 1)
    }

    @Test("silence: the request times out, a PING finds out that the peer lives, and the connection goes on")
    func silence() throws {
        let exchange = try Exchange { $0.path == "/silent" ? .silence : .respond(status: 200) }
        exchange.send("/silent", timeout: 0.3)
        exchange.send("/other")
        #expect(exchange.wait(for: 2))
        #expect(exchange.failure("/silent") == .timedOut)
        #expect(exchange.status("/other") == 200)
        exchange.send("/later")
        #expect(exchange.wait(for: 3))
        #expect(exchange.server.connections == 1)
    }

    @Test("the connection is cut off: its requests fail, the next request makes a new connection")
    func hangUp() throws {
        let exchange = try Exchange { $0.path == "/bad" ? .hangUp : .respond(status: 200) }
        exchange.send("/bad")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/bad") == .connectionLost)
        // After a failure the client rests for up to a second.
        #expect(exchange.wait { exchange.client.pending == 0 })
        exchange.wait {
            if exchange.client.pending == 0, exchange.status("/good") == nil { exchange.send("/good") }
            return exchange.status("/good") != nil
        }
        #expect(exchange.status("/good") == 200)
    }

    @Test("nobody listens: waiting requests fail at once, and for a while nothing is tried")
    func unreachable() throws {
        let exchange = try Exchange { _ in .respond(status: 200) }
        exchange.server.stop()
        exchange.send("/1")
        exchange.send("/2")
        #expect(exchange.wait(for: 2))
        #expect(exchange.failure("/1") == .unreachable)
        #expect(exchange.failure("/2") == .unreachable)
    }

    @Test("bounded queues: a request too many is refused")
    func full() throws {
        var limits = HTTPLimits()
        limits.queue = 3
        let exchange = try Exchange(limits: limits) { _ in .respond(status: 200) }
        for number in 0..<5 { exchange.send("/\(number)") }
        #expect(exchange.wait(for: 5))
        #expect((0..<3).allSatisfy { exchange.status("/\($0)") == 200 })
        #expect(exchange.failure("/3") == .queueFull)
        #expect(exchange.failure("/4") == .queueFull)
    }

    @Test("a response that is too large is not kept")
    func large() throws {
        let exchange = try Exchange { _ in .respond(status: 200, body: String(repeating: "x", count: 70_000)) }
        exchange.send("/x")
        #expect(exchange.wait(for: 1))
        #expect(exchange.failure("/x") == .tooLarge)
    }
}
