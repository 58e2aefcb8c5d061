import Glibc
import KalijLab
import KalijTransport
import Testing

/// Against a real DNS server.
@Suite struct ResolvingTests {
    /// A server that sends its name and waits for the other side to hang up.
    private func server(_ name: String, _ address: String = "127.0.0.1", port: UInt16 = 0, identity: String? = nil)
        throws -> Server
    {
        let identity = try identity.map { try Certificates.shared.get()[$0] }
        return try Server(address, port: port) { peer in
            if let identity { peer.secure(identity) }
            peer.write(name)
            _ = peer.read()
        }
    }

    private func reached(_ dialogue: Dialogue) -> String? {
        #expect(dialogue.wait { !dialogue.received.isEmpty || dialogue.failure != nil })
        dialogue.connection.abort()
        return dialogue.failure?.description ?? dialogue.text
    }

    @Test("The lowest priority comes first; the next when nobody listens there; the failure names each")
    func priorities() throws {
        let (one, two) = (try server("one"), try server("two"))
        let service = "srv-host=_xmpp-client._tcp.example.test,"
        let dns = try NameServer([
            service + "b.test,\(two.port),20,0", service + "a.test,\(one.port),10,0", "host-record=a.test,127.0.0.1",
            "host-record=b.test,127.0.0.1",
        ])
        func dial() throws -> Dialogue { try Dialogue(domain: "example.test", port: nil, dns: dns.address) }
        let first = try dial()
        #expect(reached(first) == "one")
        #expect(first.endpoint?.host == "a.test")
        one.stop()
        #expect(reached(try dial()) == "two")
        two.stop()
        let failed = try dial()
        #expect(
            reached(failed)
                == "127.0.0.1:\(one.port): connection refused; 127.0.0.1:\(two.port): connection refused")
        #expect(failed.failure?.kind == .unreachable)
    }

    @Test("Direct TLS with a bad certificate: the next target is tried")
    func badDirectTLS() throws {
        let (bad, good) = (try server("bad", identity: "expired"), try server("good", identity: "good"))
        let dns = try NameServer([
            "srv-host=_xmpps-client._tcp.example.test,a.test,\(bad.port),1,0",
            "srv-host=_xmpps-client._tcp.example.test,a.test,\(good.port),2,0", "host-record=a.test,127.0.0.1",
        ])
        let dialogue = try Dialogue(domain: "example.test", port: nil, directTLS: .preferred, dns: dns.address)
        #expect(reached(dialogue) == "good")
        #expect(dialogue.endpoint?.directTLS == true)
        #expect(dialogue.info?.version == "TLSv1.3")
        good.stop()
        let failed = try Dialogue(domain: "example.test", port: nil, directTLS: .only, dns: dns.address)
        #expect(
            reached(failed) == "127.0.0.1:\(bad.port): certificate has expired (2021-01-01); "
                + "127.0.0.1:\(good.port): connection refused")
        #expect(failed.failure?.kind == .certificate)
        bad.stop()
    }

    @Test("Services not offered (target \".\")")
    func notOffered() throws {
        let dns = try NameServer([
            "srv-host=_xmpp-client._tcp.example.test", "host-record=example.test,127.0.0.1",
        ])
        let dialogue = try Dialogue(domain: "example.test", port: nil, directTLS: .preferred, dns: dns.address)
        #expect(reached(dialogue) == "example.test: says that it offers no such service")
        #expect(dialogue.failure?.kind == .noService)
    }

    @Test("No such name; a name without an address; a SRV target without an address")
    func names() throws {
        let dns = try NameServer([
            "srv-host=_xmpp-client._tcp.lost.test,nowhere.test,5222,1,1", "txt-record=empty.test,nothing",
        ])
        func failure(_ domain: String) throws -> ConnectFailure? {
            try Dialogue(domain: domain, port: nil, directTLS: .preferred, dns: dns.address).waitForFailure()
        }
        #expect(try failure("none.test")?.description == "none.test: no such name")
        #expect(try failure("none.test")?.kind == .noSuchName)
        #expect(try failure("empty.test")?.description == "empty.test: the name has no address")
        #expect(try failure("lost.test")?.description == "nowhere.test: no such name")
        #expect(try failure("königsgäßchen.test")?.kind == .noSuchName)
        #expect(try failure(String(repeating: "a", count: 64) + ".test")?.kind == .noSuchName)
        #expect(try failure("")?.kind != nil)
    }

    @Test("Without SRV records: the domain's own addresses on port 5222 (RFC 6120 3.2.2)")
    func fallback() throws {
        let server = try server("fallback", "127.77.0.1", port: 5222)
        let dns = try NameServer(["host-record=example.test,127.77.0.1"])
        let dialogue = try Dialogue(domain: "example.test", port: nil, directTLS: .preferred, dns: dns.address)
        #expect(reached(dialogue) == "fallback")
        #expect(dialogue.endpoint?.description == "127.77.0.1:5222")
        let literal = try Dialogue(domain: "127.77.0.1", port: nil, dns: "127.0.0.1:1")
        #expect(reached(literal) == "fallback")
        server.stop()
    }

    // In a process of its own, because the environment belongs to all threads.
    @Test("The environment names the DNS servers for a command under test")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let server = try Server { $0.write("here") }
            let dns = try NameServer(["host-record=example.test,127.0.0.1"])
            setenv("KALIJ_DNS_SERVERS", dns.address, 1)
            let dialogue = try Dialogue(host: "example.test", port: server.port)
            #expect(dialogue.wait { dialogue.text == "here" })
            server.stop()
        }
    }

    @Test("A DNS server that is absent or silent is given up, and nothing is left running")
    func deadDNS() throws {
        let silent = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let port = try #require(bound(silent, "127.0.0.1", 0))
        defer { close(silent) }
        var limits = ConnectionLimits()
        limits.names = 0.4
        let dialogue = try Dialogue(domain: "example.test", port: nil, limits: limits, dns: "127.0.0.1:\(port)")
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.kind == .noAnswer)
        #expect(failure.description == "example.test: no answer from the DNS")
        dialogue.loop.schedule(after: 0.05) { dialogue.loop.stop() }
        dialogue.loop.run()
        let before = dialogue.loop.wakeUps
        dialogue.loop.schedule(after: 3) { dialogue.loop.stop() }
        dialogue.loop.run()
        #expect(dialogue.loop.wakeUps - before <= 1)
        let dead = try Dialogue(domain: "example.test", port: nil, dns: "127.0.0.1:\(try freePort())")
        #expect(dead.waitForFailure()?.description == "example.test: no DNS server can be reached")
        let nonsense = try Dialogue(domain: "example.test", port: nil, dns: "nonsense")
        #expect(nonsense.waitForFailure()?.kind == .noAnswer)
    }

    @Test("An answer too long for UDP comes by TCP; no more targets are tried than the limit allows")
    func longAnswer() throws {
        let port = UInt16(try freePort())
        let records = (0..<60).map {
            "srv-host=_xmpp-client._tcp.example.test,a-host-with-a-long-name-\($0).test,\(port),\($0),1"
        }
        let hosts = (0..<60).map { "host-record=a-host-with-a-long-name-\($0).test,127.0.0.1" }
        let dns = try NameServer(records + hosts)
        let failure = try Dialogue(domain: "example.test", port: nil, dns: dns.address).waitForFailure()
        #expect(failure?.attempts.map(\.host) == (0..<16).map { "a-host-with-a-long-name-\($0).test" })
    }

    @Test("Aborting while names are looked up ends everything")
    func abort() throws {
        let silent = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let port = try #require(bound(silent, "127.0.0.1", 0))
        defer { close(silent) }
        let dialogue = try Dialogue(domain: "example.test", port: nil, directTLS: .preferred, dns: "127.0.0.1:\(port)")
        dialogue.turn(for: 0.1)
        dialogue.connection.abort()
        dialogue.loop.schedule(after: 0.05) { dialogue.loop.stop() }
        dialogue.loop.run()
        let before = dialogue.loop.wakeUps
        dialogue.loop.schedule(after: 3) { dialogue.loop.stop() }
        dialogue.loop.run()
        #expect(dialogue.loop.wakeUps - before <= 1)
        #expect(dialogue.failure == nil)
    }
}
