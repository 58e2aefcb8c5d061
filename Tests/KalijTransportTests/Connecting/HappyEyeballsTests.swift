import Glibc
import KalijLab
import TestSupport
import Testing

@testable import KalijTransport

/// RFC 8305 on loopback.
@Suite struct HappyEyeballsTests {
    private func dial(
        _ port: UInt16, limits: ConnectionLimits = ConnectionLimits(), _ prepare: (EventLoop) -> Void = { _ in }
    ) throws -> (dialogue: Dialogue, time: Double) {
        let dns = try NameServer(["host-record=both.test,127.0.0.1,::1"])
        let dialogue = try Dialogue(host: "both.test", port: port, limits: limits, dns: dns.address)
        let start = dialogue.loop.now
        prepare(dialogue.loop)
        dialogue.wait { dialogue.endpoint != nil || dialogue.failure != nil }
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
        // Longer than anything may take: not the pause makes IPv4 come.
        limits.stagger = 2 * hangLimit
        let (dialogue, _) = try dial(server.port, limits: limits)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        server.stop()
    }

    @Test("When IPv6 does not answer IPv4 is tried after 250 ms")
    func stagger() throws {
        let server = try Server { _ = $0.read() }
        let hole = try BlackHole("::1", port: server.port)
        let (dialogue, time) = try dial(server.port)
        #expect(dialogue.endpoint?.address == "127.0.0.1")
        #expect(time > 0.24)
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

    @Test("Every tried address is named with its reason")
    func refused() throws {
        let port = UInt16(try freePort())
        let (dialogue, _) = try dial(port)
        let text = "[::1]:\(port): connection refused; 127.0.0.1:\(port): connection refused"
        #expect(dialogue.failure?.description == text)
        #expect(dialogue.failure?.kind == .unreachable)
        #expect(dialogue.failure?.attempts.map(\.host) == ["both.test", "both.test"])
    }

    @Test("The families take turns, IPv6 first (RFC 8305 4), and IPv4 known first waits for IPv6 (RFC 8305 3)")
    func turns() throws {
        let port = UInt16(try freePort())
        let loop = try EventLoop()
        let addresses = { (texts: [String]) in texts.compactMap { SocketAddress(literal: $0, port: port) } }
        let race = HappyEyeballs(loop: loop, limits: ConnectionLimits(), awaited: [AF_INET, AF_INET6]) { winner in
            #expect(winner == nil)
            loop.stop()
        }
        race.add(addresses(["127.0.0.1", "127.0.0.2", "127.0.0.3"]), of: AF_INET)
        #expect(race.losses.isEmpty)
        race.add(addresses(["::1", "::ffff:127.0.0.4"]), of: AF_INET6)
        loop.run()
        let tried = race.losses.map(\.address.text)
        #expect(tried == ["::1", "127.0.0.1", "::ffff:127.0.0.4", "127.0.0.2", "127.0.0.3"])
    }

    @Test("IPv4 known first waits 50 ms for IPv6, no longer (RFC 8305 3)")
    func resolutionDelay() throws {
        let server = try Server { _ = $0.read() }
        let loop = try EventLoop()
        var winner: HappyEyeballs.Winner?
        let race = HappyEyeballs(loop: loop, limits: ConnectionLimits(), awaited: [AF_INET, AF_INET6]) {
            winner = $0
            loop.stop()
        }
        let start = loop.now
        race.add([try #require(SocketAddress(literal: "127.0.0.1", port: server.port))], of: AF_INET)
        loop.schedule(after: hangLimit) { loop.stop() }
        loop.run()
        #expect(loop.now - start >= 0.05)
        #expect(winner?.address.text == "127.0.0.1")
        if let winner { close(winner.descriptor) }
        server.stop()
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
        #expect(dialogue.loop.now - start > 0.9)
    }
}
