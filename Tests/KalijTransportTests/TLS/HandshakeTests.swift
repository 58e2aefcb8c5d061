import COpenSSL
import Glibc
import KalijTransport
import Synchronization
import TestSupport
import Testing

@Suite struct HandshakeTests {
    @Test(
        "Direct TLS sends SNI and the ALPN name xmpp-client (XEP-0368 3); STARTTLS no ALPN", arguments: [true, false])
    func greeting(direct: Bool) throws {
        let identity = try Certificates.shared.get()["good"]
        let seen = Mutex<[String?]>([])
        let server = try Server { peer in
            if !direct {
                _ = peer.read()
                peer.write("proceed")
            }
            peer.secure(identity)
            seen.withLock { $0 = [peer.serverName, peer.alpn] }
            peer.write("hello")
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: direct ? .only : .never)
        if !direct {
            dialogue.connection.send(Array("starttls".utf8))
            #expect(dialogue.wait { dialogue.text == "proceed" })
            dialogue.connection.startTLS()
        }
        #expect(dialogue.waitForSecurity())
        #expect(dialogue.wait { dialogue.text.hasSuffix("hello") })
        dialogue.connection.abort()
        server.stop()
        #expect(seen.withLock { $0 } == ["example.org", direct ? "xmpp-client" : nil])
    }

    @Test("The information tells version, cipher, the certificate's end and the exporter of RFC 9266")
    func info() throws {
        let identity = try Certificates.shared.get()["good"]
        let exported = Mutex<[UInt8]>([])
        let server = try Server { peer in
            peer.secure(identity)
            var bytes = [UInt8](repeating: 0, count: 32)
            SSL_export_keying_material(peer.ssl, &bytes, 32, "EXPORTER-Channel-Binding", 24, nil, 0, 0)
            exported.withLock { $0 = bytes }
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        #expect(dialogue.waitForSecurity())
        dialogue.connection.abort()
        server.stop()
        let info = try #require(dialogue.info)
        #expect(info.version == "TLSv1.3")
        #expect(info.cipher.hasPrefix("TLS_"))
        #expect(info.notAfter == 2_493_072_000)  // 2049-01-01
        #expect(info.tlsExporter == exported.withLock { $0 })
    }

    @Test("TLS 1.2 is accepted, without an exporter; TLS 1.1 is not", arguments: [TLS1_2_VERSION, TLS1_1_VERSION])
    func versions(maximum: Int32) throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity, maximum: maximum)
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        if maximum == TLS1_2_VERSION {
            #expect(dialogue.waitForSecurity())
            #expect(dialogue.info?.version == "TLSv1.2")
            #expect(dialogue.info?.tlsExporter == nil)
        } else {
            let failure = try #require(dialogue.waitForFailure())
            #expect(failure.kind == .tls)
            #expect(failure.description.hasSuffix("the server speaks no TLS version of 1.2 or newer"))
        }
        dialogue.connection.abort()
        server.stop()
    }

    @Test(
        "A server that does not speak TLS; HTTP may be from a network's sign-in page",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", " (a network's sign-in page?)"), ("<stream:error>", ""),
        ])
    func noTLS(answer: String, hint: String) throws {
        let server = try Server { peer in
            _ = peer.read()
            peer.write(answer)
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.description == "127.0.0.1:\(server.port): the peer does not speak TLS" + hint)
        #expect(failure.kind == .tls)
        server.stop()
    }

    @Test(
        "A server that accepts and says nothing is given up, and so is a server that hangs up",
        arguments: [true, false])
    func silence(staysOpen: Bool) throws {
        let server = try Server { peer in
            while staysOpen, !peer.read().isEmpty {}
        }
        var limits = ConnectionLimits()
        limits.tls = staysOpen ? 1 : hangLimit
        let dialogue = try Dialogue(port: server.port, directTLS: .only, limits: limits)
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.kind == .tls)
        if staysOpen {
            #expect(failure.description.hasSuffix("no answer to the TLS handshake within 1 s"))
        } else {
            #expect(failure.description.hasSuffix("the connection was closed during the TLS handshake"))
        }
        server.stop()
    }

    @Test("A failed STARTTLS is reported with all attempts; no event follows")
    func startTLSFails() throws {
        let identity = try Certificates.shared.get()["expired"]
        let server = try Server { peer in
            _ = peer.read()
            peer.secure(identity)
        }
        let dialogue = try Dialogue(port: server.port)
        #expect(dialogue.waitForConnection())
        dialogue.connection.send([1])
        #expect(dialogue.wait { dialogue.drained > 0 })
        dialogue.connection.startTLS()
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.description == "127.0.0.1:\(server.port): certificate has expired (2021-01-01)")
        dialogue.turn(for: 0.05)
        #expect(!dialogue.isClosed)
        server.stop()
    }

    @Test("Plaintext injected after <proceed/> is never taken for TLS data (CVE-2011-0411)")
    func injection() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            _ = peer.read()
            peer.write("<proceed/><injected/>")
            peer.secure(identity)
            peer.write("secret")
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port)
        dialogue.connection.send([1])
        var plain = ""
        dialogue.onEvent = { event in
            guard case .received(let bytes) = event, plain.isEmpty else { return }
            plain = String(decoding: bytes, as: UTF8.self)
            dialogue.connection.startTLS()
        }
        _ = dialogue.wait { dialogue.failure != nil || dialogue.text.hasSuffix("secret") }
        if dialogue.failure == nil { #expect(dialogue.text == plain + "secret") }
        dialogue.connection.abort()
        server.stop()
    }

    @Test("Key updates in TLS 1.3, thousands of them asking for an answer, neither disturb data nor block the loop")
    func keyUpdates() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity)
            for number in 0..<2000 {
                guard peer.updateKey() else { return }
                if number % 100 == 0 { peer.write("x") }
            }
            peer.write("end")
            peer.write(peer.read())
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        #expect(dialogue.wait { dialogue.text.hasSuffix("end") })
        dialogue.connection.send(Array("echo".utf8))
        #expect(dialogue.wait { dialogue.text.hasSuffix("endecho") })
        #expect(dialogue.received.count == 20 + 7)
        dialogue.connection.abort()
        server.stop()
    }

    @Test("Data in one piece with a key update is not left in OpenSSL")
    func dataBehindKeyUpdate() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity)
            _ = peer.read()
            var cork: Int32 = 1
            setsockopt(peer.descriptor, Int32(IPPROTO_TCP), TCP_CORK, &cork, 4)
            _ = peer.updateKey()
            peer.write("behind")
            cork = 0
            setsockopt(peer.descriptor, Int32(IPPROTO_TCP), TCP_CORK, &cork, 4)
            _ = peer.read()
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        #expect(dialogue.waitForSecurity())
        dialogue.connection.send([1])
        #expect(dialogue.wait { dialogue.text == "behind" })
        dialogue.connection.abort()
        server.stop()
    }

    @Test("Renegotiation in TLS 1.2 is refused, and the stream goes on or ends, but does not hang")
    func renegotiation() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity, maximum: TLS1_2_VERSION)
            SSL_renegotiate(peer.ssl)
            SSL_do_handshake(peer.ssl)
            peer.write("after")
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        #expect(dialogue.wait { dialogue.text == "after" || dialogue.isClosed })
        dialogue.connection.abort()
        server.stop()
    }
}
