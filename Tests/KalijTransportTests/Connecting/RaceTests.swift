import Glibc
import KalijTransport
import Testing

/// RFC 8305 on loopback.
@Suite struct RaceTests {
    private func dial(
        _ port: UInt16, limits: ConnectionLimits = ConnectionLimits(), _ prepare: (EventLoop) -> Void = { _ in }
    ) throws -> (Dialogue, Double) {
        let dns = try NameServer(["host-record=both.test,127.0.0.1,::1"])
        let dialogue = try Dialogue(host: "both.test", port: port, limits: limits, dns: dns.address)
        let start = dialogue.loop.now
        prepare(dialogue.loop)
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
        var limits = ConnectionLimits()
        limits.stagger = 5
        let (dialogue, time) = try dial(server.port, limits: limits)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        #expect(time < 3)
        server.stop()
    }

    @Test("When IPv6 does not answer IPv4 is tried after 250 ms")
    func stagger() throws {
        let server = try Server { _ = $0.read() }
        let hole = try BlackHole("::1", port: server.port)
        let (dialogue, time) = try dial(server.port)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        #expect(time > 0.24 && time < 3)
        withExtendedLifetime(hole) {}
        server.stop()
    }

    @Test("The first address stays in the race while the next is tried")
    func lateWinner() throws {
        let four = try BlackHole("127.0.0.1")
        let six = try BlackHole("::1", port: four.port)
        // The kernel asks again after a second, and is heard then.
        let (dialogue, time) = try dial(four.port) { loop in
            loop.schedule(after: 0.5) { six.open() }
        }
        #expect(dialogue.endpoint?.address == "::1")
        #expect(time > 0.5)
        withExtendedLifetime(four) {}
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
        #expect((0.9..<4).contains(dialogue.loop.now - start))
    }
}
