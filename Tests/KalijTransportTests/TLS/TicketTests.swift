import COpenSSL
import Glibc
import Synchronization
import Testing

@testable import KalijTransport

/// Tickets of TLS 1.3 against OpenSSL's server: RFC 8446 2.2 and 4.6.1.
@Suite struct TicketTests {
    /// A server whose connections share the keys of tickets, as a restarted client finds it.
    private func server(
        _ identity: String = "good", keys: TicketKeys, startTLS: Bool = false
    ) throws -> (server: Server, resumed: Seen) {
        let identity = try Certificates.shared.get()[identity]
        let resumed = Seen()
        let server = try Server { peer in
            if startTLS {
                _ = peer.read(1)
                peer.write("proceed")
            }
            guard peer.secure(identity, keys: keys) else { return }
            resumed.append(SSL_session_reused(peer.ssl) == 1)
            peer.write("hello")
            _ = peer.read()
        }
        return (server, resumed)
    }

    /// Connects until the server has greeted.
    private func meet(
        _ port: UInt16, serverName: String = "example.org", caFile: String? = nil, ticket: [UInt8]? = nil,
        startTLS: Bool = false
    ) throws -> (info: TLSInfo?, tickets: [[UInt8]], traffic: Traffic) {
        let dialogue = try Dialogue(
            port: port, directTLS: startTLS ? .never : .only, serverName: serverName, caFile: caFile, ticket: ticket,
            wantsTickets: true)
        if startTLS {
            dialogue.connection.send([1])
            #expect(dialogue.wait { dialogue.text == "proceed" })
            dialogue.connection.startTLS()
        }
        #expect(dialogue.wait { dialogue.text.hasSuffix("hello") || dialogue.failure != nil })
        let traffic = dialogue.connection.traffic
        dialogue.connection.abort()
        return (dialogue.info, dialogue.tickets, traffic)
    }

    @Test("A ticket saves the certificate, in direct TLS and after STARTTLS; its session tells the same end point")
    func resumption() throws {
        for startTLS in [false, true] {
            let (server, resumed) = try server(keys: TicketKeys(), startTLS: startTLS)
            let first = try meet(server.port, startTLS: startTLS)
            #expect(first.tickets.count == 2)
            let second = try meet(server.port, ticket: first.tickets.first, startTLS: startTLS)
            #expect(second.info?.isResumed == true && second.info?.hasOfferedTicket == true)
            #expect(second.traffic.received < first.traffic.received - 400)
            #expect(second.info?.serverEndPoint == first.info?.serverEndPoint)
            #expect(second.info?.serverEndPoint?.count == 32)
            #expect(second.info?.notAfter == first.info?.notAfter)
            #expect(second.info?.tlsExporter != first.info?.tlsExporter)
            // A ticket from a resumed handshake is as good: it keeps the certificates.
            let third = try meet(server.port, ticket: second.tickets.first, startTLS: startTLS)
            #expect(third.info?.isResumed == true)
            server.stop()
            #expect(resumed.all == [false, true, true])
        }
    }

    @Test("A ticket that the server refuses costs nothing but its bytes")
    func refused() throws {
        let (one, _) = try server(keys: TicketKeys())
        let (other, resumed) = try server(keys: TicketKeys())
        let ticket = try #require(try meet(one.port).tickets.first)
        let met = try meet(other.port, ticket: ticket)
        #expect(met.info?.isResumed == false)
        #expect(met.tickets.count == 2)
        one.stop()
        other.stop()
        #expect(resumed.all == [false])
    }

    @Test("No ticket gets around the verification: another CA file, another name, a certificate that has ended")
    func verified() throws {
        let keys = TicketKeys()
        let (server, resumed) = try server(keys: keys)
        let ticket = try #require(try meet(server.port).tickets.first)
        let stranger = try Certificates.shared.get()["stranger"].certificate
        let untrusted = try Dialogue(port: server.port, directTLS: .only, caFile: stranger, ticket: ticket)
        #expect(untrusted.waitForFailure()?.kind == .untrusted)
        let misnamed = try Dialogue(port: server.port, directTLS: .only, serverName: "other.example", ticket: ticket)
        #expect(misnamed.waitForFailure()?.kind == .certificate)
        // The certificate is for this name, too, but it was another server.
        #expect(try meet(server.port, serverName: "a.wild.example.org", ticket: ticket).info?.isResumed == false)
        // A ticket of this name with the session of another.
        var forged = try #require(TLSTicket(ticket))
        forged.serverName = "other.example"
        let bytes = try #require(forged.encoded())
        let renamed = try Dialogue(port: server.port, directTLS: .only, serverName: "other.example", ticket: bytes)
        #expect(renamed.waitForFailure()?.kind == .certificate)
        server.stop()
        #expect(resumed.all.allSatisfy { !$0 })
        // The server's certificate was good for the ticket, and has ended since.
        let end = time(nil) + 5
        _ = try Certificates.shared.get().issueBrief(until: end)
        let (short, _) = try self.server("brief", keys: keys)
        let brief = try #require(try meet(short.port).tickets.first)
        #expect(try meet(short.port, ticket: brief).info?.isResumed == true)
        usleep(useconds_t(max(0, end - time(nil) + 1)) * 1_000_000)
        let late = try Dialogue(port: short.port, directTLS: .only, ticket: brief)
        #expect(late.waitForFailure()?.description.contains("certificate has expired") == true)
        short.stop()
    }

    @Test("A ticket over its time is not offered")
    func overTime() throws {
        let (server, resumed) = try server(keys: TicketKeys(lifetime: 1))
        let ticket = try #require(try meet(server.port).tickets.first)
        usleep(1_100_000)
        let info = try meet(server.port, ticket: ticket).info
        #expect(info?.isResumed == false && info?.hasOfferedTicket == false, "no refusal")
        server.stop()
        #expect(resumed.all == [false, false])
    }

    @Test("A damaged ticket, whatever its bytes, is ignored")
    func damaged() throws {
        let (server, resumed) = try server(keys: TicketKeys())
        let ticket = try #require(try meet(server.port).tickets.first)
        #expect(TLSTicket(ticket)?.encoded() == ticket)
        for index in ticket.indices {
            var damaged = ticket
            damaged[index] ^= 0x41
            #expect(TLSTicket(damaged) == nil)
        }
        for length in 0..<ticket.count { #expect(TLSTicket(Array(ticket.prefix(length))) == nil) }
        #expect(TLSTicket([UInt8](repeating: 1, count: TLSTicket.limit + 1)) == nil)
        var garbage = try #require(TLSTicket(ticket))
        garbage.session = Array("nonsense".utf8)
        garbage.issuers = [[], [0x30, 0x82], Array("nonsense".utf8)]
        let nonsense = try #require(garbage.encoded())
        garbage.session = [UInt8](repeating: 0, count: TLSTicket.limit)
        #expect(garbage.encoded() == nil)
        for bytes in [[], Array(ticket.dropLast()), nonsense] {
            #expect(try meet(server.port, ticket: bytes).info?.isResumed == false)
        }
        server.stop()
        #expect(resumed.all == [false, false, false, false])
    }

    @Test("Nonsense among the stored certificates is passed over, where the authority signed the server's itself")
    func badIssuers() throws {
        let (server, _) = try server(keys: TicketKeys())
        var ticket = try #require(try meet(server.port).tickets.first.flatMap(TLSTicket.init))
        ticket.issuers = [Array("nonsense".utf8)]
        #expect(try meet(server.port, ticket: ticket.encoded()).info?.isResumed == true)
        server.stop()
    }

    @Test("A chain through another authority is stored with the ticket, and verified before the ticket is used")
    func chain() throws {
        let (server, resumed) = try server("chained", keys: TicketKeys())
        let bytes = try #require(try meet(server.port).tickets.first)
        var ticket = try #require(TLSTicket(bytes))
        #expect(ticket.issuers.count == 1)
        let second = try meet(server.port, ticket: bytes)
        #expect(second.info?.isResumed == true)
        #expect(second.tickets.first.flatMap(TLSTicket.init)?.issuers == ticket.issuers)
        ticket.issuers = []
        #expect(try meet(server.port, ticket: ticket.encoded()).info?.isResumed == false)
        server.stop()
        #expect(resumed.all == [false, true, false])
    }

    @Test("At most two tickets are told in a connection, not in TLS 1.2, and none unless wanted")
    func limits() throws {
        let identity = try Certificates.shared.get()["good"]
        for (wants, maximum, expected) in [
            (true, TLS1_3_VERSION, 2), (false, TLS1_3_VERSION, 0), (true, TLS1_2_VERSION, 0),
        ] {
            let server = try Server { peer in
                peer.secure(identity, maximum: maximum, keys: TicketKeys(number: 9))
                peer.write("hello")
                _ = peer.read()
            }
            let dialogue = try Dialogue(port: server.port, directTLS: .only, wantsTickets: wants)
            #expect(dialogue.wait { dialogue.text == "hello" })
            #expect(dialogue.tickets.count == expected)
            dialogue.connection.abort()
            server.stop()
        }
    }

    @Test("A ticket much later than the handshake is told, too; a receiver may close the connection in the event")
    func late() throws {
        let identity = try Certificates.shared.get()["good"]
        let server = try Server { peer in
            peer.secure(identity, keys: TicketKeys(number: 0))
            peer.write("hello")
            _ = peer.read()
            SSL_new_session_ticket(peer.ssl)
            peer.write("after")
            _ = peer.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only, wantsTickets: true)
        #expect(dialogue.wait { dialogue.text == "hello" })
        #expect(dialogue.tickets.isEmpty)
        dialogue.onEvent = { if case .ticket = $0 { dialogue.connection.abort() } }
        dialogue.connection.send([1])
        #expect(dialogue.wait { !dialogue.tickets.isEmpty })
        dialogue.turn(for: 0.1)
        #expect(dialogue.text == "hello")
        server.stop()
    }
}

/// What the threads of a server have seen, in order.
private final class Seen: Sendable {
    private let values = Mutex<[Bool]>([])
    func append(_ value: Bool) { values.withLock { $0.append(value) } }
    var all: [Bool] { values.withLock { $0 } }
}
