import Glibc
import KalijTransport
import TestSupport
import Testing

/// What leaves for the network, and how slow the network may be.
@Suite struct WireTests {
    /// The extensions of a ClientHello (RFC 8446 4.1.2), by number.
    private func extensions(_ hello: [UInt8]) throws -> [Int: [UInt8]] {
        var rest = hello[...]
        func take(_ count: Int) throws -> [UInt8] {
            try #require(rest.count >= count)
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ bytes: Int) throws -> Int { try take(bytes).reduce(0) { $0 << 8 | Int($1) } }
        #expect(try number(1) == 1)
        _ = try take(3 + 2 + 32)
        _ = try take(number(1))
        _ = try take(number(2))
        _ = try take(number(1))
        #expect(try number(2) == rest.count)
        var found: [Int: [UInt8]] = [:]
        while !rest.isEmpty { found[try number(2)] = try take(number(2)) }
        return found
    }

    @Test("One key share leaves, X25519, and only three groups are named (ML-KEM costs 1.2 kB each way)")
    func keyShare() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server {
            $0.secure(identity)
            _ = $0.read()
        }
        let wire = try Wire(to: server.port)
        let dialogue = try Dialogue(port: wire.port, directTLS: .only)
        #expect(dialogue.waitForSecurity())
        dialogue.connection.abort()
        wire.stop()
        server.stop()
        let hello = try #require(wire.records.first)
        #expect(hello.type == 22)
        let extensions = try extensions(hello.content)
        // supported_groups: x25519, secp256r1, secp384r1 (RFC 8446 4.2.7)
        #expect(extensions[10] == [0, 6, 0, 29, 0, 23, 0, 24])
        // key_share: one of x25519, 32 bytes (RFC 8446 4.2.8)
        #expect(extensions[51]?.prefix(6) == [0, 36, 0, 29, 0, 32])
        #expect(extensions[51]?.count == 38)
        #expect(hello.content.count < 320)
    }

    @Test("What is sent in one turn is one TLS record; the first leaves with the handshake's last message")
    func together() throws {
        let identity = try Certificates.shared.get()["good"]
        for direct in [true, false] {
            let server = try Server { peer in
                if !direct {
                    _ = peer.read(1)
                    peer.write("proceed")
                }
                peer.secure(identity)
                peer.write(peer.read())
                peer.write(peer.read())
                _ = peer.read()
            }
            let wire = try Wire(to: server.port)
            let dialogue = try Dialogue(port: wire.port, directTLS: direct ? .only : .never)
            if !direct {
                dialogue.connection.send([1])
                #expect(dialogue.wait { dialogue.text == "proceed" })
                dialogue.connection.startTLS()
            }
            let before = dialogue.received.count
            dialogue.onEvent = { event in
                switch event {
                case .connected, .secured:
                    dialogue.connection.send(Array("one".utf8))
                    dialogue.connection.send(Array("two".utf8))
                default: break
                }
            }
            #expect(dialogue.wait { dialogue.text.hasSuffix("onetwo") })
            // ClientHello; then the change of ciphers, Finished and data together.
            #expect(wire.arrivals.count == (direct ? 2 : 3))
            for word in ["a", "b", "c"] { dialogue.connection.send(Array(word.utf8)) }
            #expect(dialogue.wait { dialogue.text.hasSuffix("abc") })
            #expect(dialogue.received.count == before + 9)
            dialogue.connection.abort()
            wire.stop()
            server.stop()
            let data = wire.sent.count - (direct ? 0 : 1)
            #expect(data > 0)
            if direct {
                // Finished is such a record, too.
                #expect(wire.records.map(\.type) == [22, 20, 23, 23, 23])
                // A byte for the type, and 16 of the cipher.
                #expect(wire.records.suffix(2).map(\.content.count) == [6 + 17, 3 + 17])
            }
        }
    }

    @Test("8 kbit/s is no reason to give up a handshake with 5 kB of certificates, and its times tell the rate")
    func slow() throws {
        let certificates = try Certificates.shared.get()
        let identity = Certificates.Identity(
            certificate: certificates["long"].certificate, key: certificates["chained"].key)
        let server = try Server {
            $0.secure(identity)
            _ = $0.read()
        }
        let wire = try Wire(to: server.port, pace: (bytes: 100, pause: 100_000))
        // Less than the handshake takes, much more than the pauses in it.
        var limits = ConnectionLimits()
        limits.tls = 4
        let dialogue = try Dialogue(port: wire.port, directTLS: .only, limits: limits)
        #expect(dialogue.wait { dialogue.info != nil || dialogue.failure != nil })
        #expect(dialogue.failure == nil)
        let times = try #require(dialogue.info?.times)
        #expect(times.received > 5000)
        #expect(times.handshake > 4)
        let rate = Double(times.received) / (times.handshake - times.connect)
        print("8 kbit/s were measured as \(rate) bytes a second")
        #expect(rate <= 1200 && times.handshake <= dialogue.elapsed)
        dialogue.connection.abort()
        wire.stop()
        server.stop()
    }

    @Test("A peer that sends a byte now and then for ever is given up")
    func drip() throws {
        let server = try Server { peer in
            _ = peer.read()
            // The header of a long record.
            peer.write([22, 3, 3, 0x40, 0])
            while peer.write([0]) { usleep(100_000) }
        }
        var limits = ConnectionLimits()
        limits.tls = hangLimit
        limits.wholeTLS = 2
        let dialogue = try Dialogue(port: server.port, directTLS: .only, limits: limits)
        let start = dialogue.loop.now
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.description.hasSuffix("the TLS handshake was not finished within 2 s"))
        #expect(dialogue.loop.now - start > 1.9)
        server.stop()
    }

    @Test("Traffic counts every byte on the socket; the round trip is the kernel's")
    func measurements() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity)
            peer.write(peer.read())
            _ = peer.read()
        }
        let wire = try Wire(to: server.port)
        let dialogue = try Dialogue(port: wire.port, directTLS: .only)
        #expect(dialogue.connection.traffic == Traffic())
        #expect(dialogue.connection.roundTrip == nil)
        #expect(dialogue.waitForSecurity())
        let handshake = dialogue.connection.traffic
        #expect(handshake.received >= dialogue.info?.times?.received ?? .max)
        let times = try #require(dialogue.info?.times)
        #expect(times.received > 500 && times.connect > 0 && times.handshake > 0)
        dialogue.connection.send([UInt8](repeating: 7, count: 1000))
        #expect(dialogue.wait { dialogue.received.count == 1000 })
        #expect(dialogue.connection.traffic.received > handshake.received + 1000)
        let roundTrip = try #require(dialogue.connection.roundTrip)
        let elapsed = dialogue.elapsed
        #expect(times.handshake < elapsed && roundTrip.smoothed > 0 && roundTrip.smoothed < elapsed)
        #expect(roundTrip.variance >= 0 && roundTrip.variance < elapsed)
        dialogue.connection.abort()
        #expect(dialogue.connection.roundTrip == nil)
        wire.stop()
        server.stop()
        #expect(dialogue.connection.traffic.sent == wire.sent.count)
    }
}
