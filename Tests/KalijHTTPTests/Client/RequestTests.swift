import KalijHTTP
import KalijPushLab
import KalijTransport
import Testing

@Suite("Requests over HTTP/2 with a real server")
struct RequestTests {
    @Test("RFC 9113, 8.1: a request with fields and a body, a response with fields and a body")
    func echo() throws {
        let exchange = try Exchange { request in
            .respond(
                status: 200, fields: [("apns-id", request.fields["apns-id"] ?? "")],
                body: "\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))")
        }
        exchange.send("/3/device/abc", fields: [HTTPField("apns-id", "4711")], body: Array("hello".utf8))
        #expect(exchange.wait(for: 1))
        let response = try exchange.outcomes["/3/device/abc"]?.get()
        #expect(response?.status == 200)
        #expect(response?["apns-id"] == "4711")
        #expect(response.map { String(decoding: $0.body, as: UTF8.self) } == "POST /3/device/abc hello")
    }

    @Test("a request without a body, and a request of 100,000 bytes through flow control (RFC 9113, 5.2)")
    func sizes() throws {
        let exchange = try Exchange { .respond(status: 200, body: "\($0.body.count)") }
        exchange.send("/none", body: [])
        exchange.send("/much", body: [UInt8](repeating: 7, count: 100_000))
        #expect(exchange.wait(for: 2))
        #expect(try exchange.outcomes["/none"]?.get().body == Array("0".utf8))
        #expect(try exchange.outcomes["/much"]?.get().body == Array("100000".utf8))
    }

    @Test("several streams on few long-lived connections: 1,000 requests, and the peer's limit is obeyed")
    func many() throws {
        var limits = HTTPLimits()
        limits.connections = 2
        let exchange = try Exchange(limits: limits, streams: 10) { _ in .later(0.01, .respond(status: 200)) }
        for number in 0..<1000 { exchange.send("/\(number)") }
        #expect(exchange.wait(for: 1000))
        #expect((0..<1000).allSatisfy { exchange.status("/\($0)") == 200 })
        #expect(exchange.server.connections == 2)
        #expect(exchange.server.requests == 1000)
    }

    @Test("SETTINGS_MAX_CONCURRENT_STREAMS lowered on the way: no request is refused")
    func lowered() throws {
        var limits = HTTPLimits()
        limits.connections = 1
        let exchange = try Exchange(limits: limits) { request in
            let answer = LabReply.later(0.02, .respond(status: 200))
            return request.path == "/0" ? .limit(streams: 1, then: answer) : answer
        }
        for number in 0..<50 { exchange.send("/\(number)") }
        #expect(exchange.wait(for: 50))
        #expect((0..<50).allSatisfy { exchange.status("/\($0)") == 200 })
        #expect(exchange.server.requests == 50)
    }

    @Test("APNs with a p12: the client's certificate is shown, from a new file and from a file in RC2-40")
    func identity() throws {
        let keys = try TestKeys.shared.get()
        for name in ["client.p12", "old.p12"] {
            let identity = try TLSIdentity(pkcs12: try keys.bytes(name), password: "secret")
            #expect(identity.notAfter != nil)
            let exchange = try Exchange(identity: identity, clientAuthority: keys.path("client.pem")) {
                .respond(status: 200, body: $0.clientName ?? "")
            }
            exchange.send("/x")
            #expect(exchange.wait(for: 1))
            #expect(
                try exchange.outcomes["/x"]?.get().body == Array("Apple Push Services: org.example".utf8), "\(name)")
        }
        #expect(throws: TLSIdentity.Problem.wrongPassword) {
            try TLSIdentity(pkcs12: try keys.bytes("client.p12"), password: "wrong")
        }
        #expect(throws: TLSIdentity.Problem.malformed) { try TLSIdentity(pkcs12: [1, 2, 3], password: "") }
    }
}
