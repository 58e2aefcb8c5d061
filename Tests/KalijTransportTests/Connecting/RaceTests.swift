import Glibc
import KalijTransport
import Testing

/// RFC 8305 on loopback.
@Suite struct RaceTests {
    private func dial(_ port: UInt16, limits: ConnectionLimits = ConnectionLimits()) throws -> (Dialogue, Double) {
        let dns = try NameServer(["host-record=both.test,127.0.0.1,::1"])
        let dialogue = try Dialogue(host: "both.test", port: port, limits: limits, dns: dns.address)
        let start = dialogue.loop.now
        _ = dialogue.wait(20) { dialogue.endpoint != nil || dialogue.failure != nil }
        dialogue.connection.abort()
        return (dialogue, dialogue.loop.now - start)
    }

    @Test("IPv6 is preferred when both answer")
    func six() throws {
        let four = try Server { _ = $0.read() }
        let six = try Server("::1", port: four.port) { _ = $0.read() }
        let (dialogue, _) = try dial(four.port)
        #expect(dialogue.endpoint?.description == "[::1]:\(four.port)")
        four.stop()
        six.stop()
    }

    @Test("When IPv6 is refused IPv4 is tried at once")
    func four() throws {
        let server = try Server { _ = $0.read() }
        let (dialogue, time) = try dial(server.port)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        #expect(time < 0.2)
        server.stop()
    }

    @Test("When IPv6 does not answer IPv4 is tried after 250 ms")
    func stagger() throws {
        let server = try Server { _ = $0.read() }
        let hole = try BlackHole("::1", port: server.port)
        let (dialogue, time) = try dial(server.port)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        #expect(time > 0.24 && time < 0.6)
        withExtendedLifetime(hole) {}
        server.stop()
    }

    @Test("The first address stays in the race while the next is tried")
    func lateWinner() throws {
        let hole = try BlackHole("127.0.0.1")
        let six = try Server("::1", port: hole.port) { _ = $0.read() }
        var limits = ConnectionLimits()
        limits.stagger = 0
        let (dialogue, _) = try dial(hole.port, limits: limits)
        #expect(dialogue.endpoint?.address == "::1")
        six.stop()
    }

    @Test("Every address that was tried is named with its reason")
    func refused() throws {
        let port = try freePort()
        let (dialogue, _) = try dial(port)
        let text = "[::1]:\(port): connection refused; 127.0.0.1:\(port): connection refused"
        #expect(dialogue.failure?.description == text)
        #expect(dialogue.failure?.kind == .unreachable)
        #expect(dialogue.failure?.attempts.map(\.host) == ["both.test", "both.test"])
    }

    @Test("An address that never answers is given up")
    func deadline() throws {
        let hole = try BlackHole("127.0.0.1")
        var limits = ConnectionLimits()
        limits.tcp = 1
        let dialogue = try Dialogue(port: hole.port, limits: limits)
        let start = dialogue.loop.now
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.description == "127.0.0.1:\(hole.port): no answer within 1 s")
        #expect(abs(dialogue.loop.now - start - 1) < 0.3)
    }
}
