import Glibc
import KalijTransport
import Synchronization
import TestSupport
import Testing

@Suite struct ConnectionTests {
    @Test("Megabytes are echoed through TLS with small windows, complete and in order")
    func echo() throws {
        let identity = try Certificates.shared.get()["good"]
        let total = LongForm.amount("echoed-megabytes", short: 6) << 20
        let server = try Server { peer in
            var size: Int32 = 65536
            setsockopt(peer.descriptor, SOL_SOCKET, SO_SNDBUF, &size, 4)
            setsockopt(peer.descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
            peer.secure(identity)
            var left = total
            while left > 0, case let bytes = peer.read(20_000), !bytes.isEmpty {
                left -= bytes.count
                guard peer.write(bytes) else { return }
            }
            peer.endTLS()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        dialogue.keepsBytes = false
        #expect(dialogue.waitForSecurity())
        // No two records are alike: their length does not divide the table's.
        var generator = Seeded(50)
        let table = (0..<300_007).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let twice = table + table
        var sent = 0
        var compared = 0
        var differences = 0
        func fill() {
            guard sent < total, dialogue.connection.unsent < 1 << 20 else { return }
            let count = min(200_001, total - sent)
            let start = sent % table.count
            dialogue.connection.send(Array(twice[start..<start + count]))
            sent += count
        }
        dialogue.onEvent = { event in
            if case .received(let bytes) = event {
                let start = compared % table.count
                let isSame = twice.withUnsafeBytes { all in
                    all[start..<start + bytes.count].withUnsafeBytes { part in
                        guard let ours = part.baseAddress, let theirs = bytes.baseAddress else { return bytes.isEmpty }
                        return memcmp(ours, theirs, bytes.count) == 0
                    }
                }
                if !isSame { differences += 1 }
                compared += bytes.count
            }
            fill()
        }
        fill()
        #expect(dialogue.wait { dialogue.isClosed })
        #expect(compared == total)
        #expect(differences == 0)
        #expect(dialogue.error == nil)
        server.stop()
    }

    @Test("The peer's orderly end is no error; a reset is; a cut TLS connection is")
    func ends() throws {
        let identity = try Certificates.shared.get()["good"]
        func end(_ tls: Bool, _ how: @escaping @Sendable (Peer) -> Void) throws -> TransportError? {
            let server = try Server { peer in
                if tls { peer.secure(identity) }
                _ = peer.read(1)
                peer.write("last words")
                how(peer)
            }
            let dialogue = try Dialogue(port: server.port, directTLS: tls ? .only : .never)
            #expect(tls ? dialogue.waitForSecurity() : dialogue.waitForConnection())
            dialogue.connection.send([1])
            #expect(dialogue.waitForEnd())
            #expect(dialogue.text == "last words")
            server.stop()
            return dialogue.error
        }
        #expect(try end(false) { _ in } == nil)
        #expect(try end(true) { $0.endTLS() } == nil)
        #expect(try end(true) { _ in }?.code == .truncated)
        let afterPause: @Sendable (Peer) -> Void = { peer in
            usleep(100_000)
            peer.resetOnClose()
        }
        #expect(try end(false, afterPause)?.code == .reset)
        #expect(try end(true, afterPause)?.code == .reset)
    }

    @Test("Writing to a peer that has closed raises no signal, and its last words are still read")
    func writeAfterClose() throws {
        let server = try Server { peer in
            peer.write("conflict")
            peer.resetOnClose()
            usleep(50_000)
        }
        let dialogue = try Dialogue(port: server.port)
        #expect(dialogue.waitForConnection())
        dialogue.connection.isReading = false
        usleep(200_000)
        dialogue.connection.send(Array(repeating: 7, count: 100_000))
        dialogue.turn(for: 0.1)
        dialogue.connection.send(Array(repeating: 7, count: 100_000))
        dialogue.turn(for: 0.1)
        #expect(!dialogue.isClosed)
        #expect(dialogue.connection.unsent == 0)
        dialogue.connection.isReading = true
        #expect(dialogue.waitForEnd())
        #expect(dialogue.error?.code == .reset)
        #expect(dialogue.text == "conflict")
        server.stop()
    }

    @Test(
        "While reading is paused nothing is given out, the peer is held back, and nothing is lost",
        arguments: [true, false])
    func flowControl(tls: Bool) throws {
        let identity = try Certificates.shared.get()["good"]
        let written = Counter()
        let total = 20 << 20
        let server = try Server { peer in
            if tls { peer.secure(identity) }
            let block = [UInt8](repeating: 9, count: 65536)
            for _ in 0..<total / block.count {
                guard peer.write(block) else { return }
                written.add(block.count)
            }
            peer.endTLS()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: tls ? .only : .never)
        dialogue.keepsBytes = false
        dialogue.onEvent = { if case .received = $0 { dialogue.connection.isReading = false } }
        #expect(dialogue.wait { dialogue.receivedCount > 0 })
        dialogue.turn(for: 0.3)
        let paused = dialogue.receivedCount
        #expect(paused <= 16 * 1024)
        #expect(written.value < total)
        // One chunk at a time, and the handler pauses again each time.
        for _ in 0..<10 {
            let before = dialogue.receivedCount
            dialogue.connection.isReading = true
            #expect(dialogue.wait { dialogue.receivedCount > before })
            #expect(dialogue.receivedCount - before <= 16 * 1024)
        }
        dialogue.onEvent = nil
        dialogue.connection.isReading = true
        #expect(dialogue.wait { dialogue.isClosed })
        #expect(dialogue.receivedCount == total)
        server.stop()
    }

    @Test("A paused connection costs no wake-ups when its peer hangs up")
    func pausedHangUp() throws {
        let isConnected = Counter()
        let server = try Server { peer in
            peer.resetOnClose()
            // A reset before the client has seen the connection would be a failure to connect.
            for _ in 0..<400_000 where isConnected.value == 0 { usleep(1_000) }
        }
        let dialogue = try Dialogue(port: server.port)
        dialogue.connection.isReading = false
        #expect(dialogue.waitForConnection())
        isConnected.add(1)
        server.stop()
        dialogue.loop.schedule(after: 0.05) { dialogue.loop.stop() }
        dialogue.loop.run()
        let before = dialogue.loop.wakeUps
        dialogue.loop.schedule(after: 0.3) { dialogue.loop.stop() }
        dialogue.loop.run()
        #expect(dialogue.loop.wakeUps - before <= 2)
    }

    @Test("An idle connection costs no wake-ups and keeps no timers")
    func idle() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity)
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        #expect(dialogue.waitForSecurity())
        dialogue.turn(for: 0.3)
        let before = dialogue.loop.wakeUps
        dialogue.loop.schedule(after: 1) { dialogue.loop.stop() }
        dialogue.loop.run()
        #expect(dialogue.loop.wakeUps - before <= 1)
        dialogue.connection.abort()
        server.stop()
    }

    @Test("close() writes queued bytes, ends TLS and TCP in order, and no event follows", arguments: [true, false])
    func close(tls: Bool) throws {
        let identity = try Certificates.shared.get()["good"]
        let got = Counter()
        let server = try Server { peer in
            if tls { peer.secure(identity) }
            // Unread by the client at its close: must not cause a reset that loses the client's last bytes.
            peer.write("unread")
            usleep(50_000)
            got.add(peer.readAll().count)
        }
        var limits = ConnectionLimits()
        // The peer's note ends the closing, not this.
        limits.closing = 2 * hangLimit
        let dialogue = try Dialogue(port: server.port, directTLS: tls ? .only : .never, limits: limits)
        dialogue.connection.isReading = false
        #expect(tls ? dialogue.waitForSecurity() : dialogue.waitForConnection())
        dialogue.connection.send([UInt8](repeating: 1, count: 300_000))
        var finished = false
        dialogue.connection.close { finished = true }
        #expect(dialogue.wait { finished })
        server.stop()
        #expect(got.value == 300_000)
        #expect(!dialogue.isClosed)
        #expect(dialogue.received.isEmpty)
    }

    @Test("close() gives up on a peer that does not read within 0.5 s")
    func closeHung() throws {
        let isDone = Counter()
        let server = try Server { _ in while isDone.value == 0 { usleep(1_000) } }
        defer { isDone.add(1) }
        let dialogue = try Dialogue(port: server.port)
        #expect(dialogue.waitForConnection())
        dialogue.connection.send([UInt8](repeating: 1, count: 30 << 20))
        var finished = false
        let start = dialogue.loop.now
        dialogue.connection.close { finished = true }
        #expect(dialogue.wait { finished })
        #expect(dialogue.loop.now - start > 0.45)
        isDone.add(1)
        server.stop()
    }

    @Test("abort() resets at once, in any state, and tells nothing more")
    func abort() throws {
        let errors = Counter()
        let server = try Server { peer in
            _ = peer.read()
            if errno == ECONNRESET { errors.add() }
        }
        let dialogue = try Dialogue(port: server.port)
        #expect(dialogue.waitForConnection())
        dialogue.connection.abort()
        dialogue.connection.send([1])
        dialogue.connection.startTLS()
        dialogue.connection.close()
        server.stop()
        #expect(errors.value == 1)
        let early = try Dialogue(port: server.port)
        early.connection.abort()
        early.turn(for: 0.1)
        #expect(early.failure == nil)
        #expect(!dialogue.isClosed)
    }

    @Test("Bytes sent before the connection stands, or during the handshake, wait; small sends go together")
    func early() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity)
            peer.write(peer.read())
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only)
        for word in ["a", "b", "c"] { dialogue.connection.send(Array(word.utf8)) }
        #expect(dialogue.connection.unsent == 3)
        #expect(dialogue.wait { dialogue.text == "abc" })
        #expect(dialogue.drained == 1)
        dialogue.connection.abort()
        server.stop()
    }

    @Test("A connection dropped inside its own event is gone")
    func droppedInEvent() throws {
        let server = try Server {
            $0.write("x"); _ = $0.read()
        }
        let loop = try EventLoop()
        var connection: Connection?
        var events = 0
        connection = Connection(
            loop: loop,
            target: ConnectionTarget(domain: "example.org", override: (host: "127.0.0.1", port: server.port)),
            tls: TLSSettings(serverName: "example.org")
        ) { _ in
            events += 1
            connection = nil
            loop.schedule(after: 0.1) { loop.stop() }
        }
        connection?.open()
        loop.schedule(after: hangLimit) { loop.stop() }
        loop.run()
        #expect(events == 1)
        server.stop()
    }
}
