import Glibc
import KalijLab
import TestSupport
import Testing

@testable import KalijTransport

/// The address that worked last, tried while the DNS is asked.
@Suite struct RememberedTests {
    /// A server that sends its name, in TLS if it has an identity, after a pause in microseconds.
    private func server(
        _ name: String, _ address: String = "127.0.0.1", port: UInt16 = 0, identity: String? = nil, pause: UInt32 = 0
    ) throws -> Server {
        let identity = try identity.map { try Certificates.shared.get()[$0] }
        return try Server(address, port: port) { peer in
            usleep(pause)
            if let identity { peer.secure(identity) }
            peer.write(name)
            _ = peer.read()
        }
    }

    private func endpoint(_ port: UInt16, _ address: String = "127.0.0.1", directTLS: Bool = false) -> Endpoint {
        Endpoint(host: "a.test", address: address, port: port, directTLS: directTLS)
    }

    /// The server's name, or the failure, and the time until then.
    private func reached(
        _ remembered: Endpoint, host: String? = nil, directTLS: DirectTLS = .preferred,
        limits: ConnectionLimits = ConnectionLimits(), dns: String
    ) throws -> (text: String, endpoint: Endpoint?, seconds: Double) {
        let dialogue = try Dialogue(
            domain: "example.test", host: host ?? "", port: host.map { _ in remembered.port }, directTLS: directTLS,
            limits: limits, dns: dns, remembered: remembered)
        let start = dialogue.loop.now
        #expect(dialogue.wait { !dialogue.received.isEmpty || dialogue.failure != nil })
        dialogue.connection.abort()
        return (dialogue.failure?.description ?? dialogue.text, dialogue.endpoint, dialogue.loop.now - start)
    }

    /// A DNS server with a record of each kind for example.test, and a.test at the addresses.
    private func names(
        starttls: UInt16? = nil, direct: UInt16? = nil, _ addresses: String = "127.0.0.1"
    ) throws -> NameServer {
        let records = [("_xmpp-client", starttls), ("_xmpps-client", direct)].compactMap { kind, port in
            port.map { "srv-host=\(kind)._tcp.example.test,a.test,\($0),1,1" }
        }
        return try NameServer(records + ["host-record=a.test," + addresses])
    }

    @Test("A DNS that says nothing does not matter, for a domain or an override, and the kind of TLS is kept")
    func withoutDNS() throws {
        let silent = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(silent) }
        let dns = "127.0.0.1:\(try #require(bound(silent, "127.0.0.1", 0)))"
        let (plain, secure) = (try server("plain"), try server("secure", identity: "good"))
        // The end of the waiting for the DNS brings no test on.
        var limits = ConnectionLimits()
        limits.names = 2 * hangLimit
        let first = try reached(endpoint(plain.port), limits: limits, dns: dns)
        #expect(first.text == "plain" && first.endpoint == endpoint(plain.port))
        let second = try reached(endpoint(secure.port, directTLS: true), limits: limits, dns: dns)
        #expect(second.text == "secure" && second.endpoint == endpoint(secure.port, directTLS: true))
        let third = try reached(endpoint(plain.port), host: "a.test", directTLS: .never, limits: limits, dns: dns)
        #expect(third.text == "plain")
        plain.stop()
        secure.stop()
    }

    @Test("A black hole is beside the DNS's address after 250 ms, and one that refuses at once")
    func holes() throws {
        let server = try server("new")
        let dns = try names(starttls: server.port)
        let hole = try BlackHole("127.0.0.2")
        let (text, _, seconds) = try reached(endpoint(hole.port, "127.0.0.2"), dns: dns.address)
        #expect(text == "new")
        #expect(seconds > 0.24)
        #expect(try reached(endpoint(UInt16(try freePort()), "127.0.0.3"), dns: dns.address).text == "new")
        // A link-local address needs its interface, which is not remembered.
        #expect(try reached(endpoint(server.port, "fe80::1"), dns: dns.address).text == "new")
        #expect(try reached(endpoint(server.port, "nonsense"), dns: dns.address).text == "new")
        withExtendedLifetime(hole) {}
        server.stop()
    }

    @Test("A remembered address that is only slow stays in the race, and wins over the DNS's black hole")
    func slow() throws {
        let slow = try BlackHole("127.0.0.2")
        let other = try BlackHole("127.0.0.1")
        let dns = try names(starttls: other.port)
        let dialogue = try Dialogue(
            domain: "example.test", port: nil, dns: dns.address, remembered: endpoint(slow.port, "127.0.0.2"))
        dialogue.loop.schedule(after: 0.5) { slow.open() }
        #expect(dialogue.waitForConnection())
        #expect(dialogue.endpoint == endpoint(slow.port, "127.0.0.2"))
        dialogue.connection.abort()
        withExtendedLifetime(other) {}
    }

    @Test("The remembered address is tried once, and named once in the failure")
    func once() throws {
        let port = UInt16(try freePort())
        let dns = try names(starttls: port, "127.0.0.1")
        #expect(try reached(endpoint(port), dns: dns.address).text == "127.0.0.1:\(port): connection refused")
        // Another kind of TLS is another try.
        #expect(
            try reached(endpoint(port, directTLS: true), dns: dns.address).text
                == "127.0.0.1:\(port): connection refused; 127.0.0.1:\(port): connection refused")
    }

    @Test("A remembered server with a bad certificate: the DNS's answers go on, the other addresses of the host, too")
    func badCertificate() throws {
        let bad = try server("bad", identity: "expired", pause: 200_000)
        let good = try server("good", "127.0.0.2", port: bad.port, identity: "good")
        let dns = try NameServer([
            "srv-host=_xmpps-client._tcp.example.test,a.test,\(bad.port),1,1", "host-record=a.test,127.0.0.1",
            "host-record=a.test,127.0.0.2",
        ])
        let (text, reachedEndpoint, _) = try reached(endpoint(bad.port, directTLS: true), dns: dns.address)
        #expect(text == "good")
        #expect(reachedEndpoint == endpoint(bad.port, "127.0.0.2", directTLS: true))
        good.stop()
        let failed = try reached(endpoint(bad.port, directTLS: true), dns: dns.address)
        #expect(
            failed.text == "127.0.0.1:\(bad.port): certificate has expired (2021-01-01); "
                + "127.0.0.2:\(bad.port): connection refused")
        bad.stop()
    }

    @Test("A service that the DNS says is not offered: the remembered address is used only if it stands already")
    func notOffered() throws {
        let server = try server("still here", identity: "good", pause: 500_000)
        let dns = try NameServer(["srv-host=_xmpp-client._tcp.example.test"])
        #expect(try reached(endpoint(server.port, directTLS: true), dns: dns.address).text == "still here")
        server.stop()
        let hole = try BlackHole("127.0.0.2")
        var limits = ConnectionLimits()
        limits.tcp = 2 * hangLimit
        let (text, _, _) = try reached(endpoint(hole.port, "127.0.0.2"), limits: limits, dns: dns.address)
        #expect(text == "example.test: says that it offers no such service")
        withExtendedLifetime(hole) {}
    }

    @Test("The remembered address is used only where the settings allow it")
    func allowed() {
        func uses(
            _ directTLS: DirectTLS, override: (host: String, port: UInt16)? = nil, domain: String = "example.test",
            _ remembered: Endpoint
        ) -> Bool {
            ConnectionTarget(domain: domain, override: override, directTLS: directTLS, remembered: remembered)
                .rememberedRoute != nil
        }
        let (plain, direct) = (endpoint(5222), endpoint(5223, directTLS: true))
        #expect(uses(.preferred, plain) && uses(.preferred, direct))
        #expect(uses(.never, plain) && !uses(.never, direct))
        #expect(!uses(.only, plain) && uses(.only, direct))
        #expect(uses(.never, override: ("a.test", 5222), plain) && uses(.preferred, override: ("a.test", 5222), plain))
        #expect(!uses(.preferred, override: ("b.test", 5222), plain))
        #expect(!uses(.preferred, override: ("a.test", 443), plain))
        #expect(!uses(.preferred, override: ("a.test", 5223), direct))
        #expect(uses(.only, override: ("a.test", 5223), direct))
        #expect(!uses(.never, override: ("127.0.0.1", 5222), plain))
        #expect(!uses(.never, domain: "127.0.0.1", plain))
    }
}
