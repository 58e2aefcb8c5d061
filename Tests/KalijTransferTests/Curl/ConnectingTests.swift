import Foundation
import Testing

@testable import KalijTransfer

@Suite("Connecting for transfers")
struct ConnectingTests {
    private let server: FileServer

    init() throws { server = try FileServer() }

    private func request(
        _ url: String, own: Set<String> = [], at address: String? = "127.0.0.1", connect: Double = 10
    ) -> TransferRequest {
        TransferRequest(
            .get, url: url, caFile: server.authority, ownHosts: own, ownAddress: address,
            limits: TransferLimits(connect: connect))
    }

    @Test("A name that leads to this machine is refused, and nothing is connected to")
    func loopback() throws {
        let failure = try #require(try Trial().run(request(server.url("/file/1")))?.failure)
        #expect(failure.code == .refusedAddress)
        #expect(failure.isUnsent)
        for host in ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            let end = try Trial().run(request("https://\(host):\(server.port)/file/1"))
            #expect(end?.failure?.code == .refusedAddress, "\(host): \(String(describing: end))")
        }
        #expect(server.accepted == 0)
    }

    @Test("Each address of a name is judged")
    func several() throws {
        let trial = try Trial(addresses: ["many.example:\(server.port):10.0.0.1,127.0.0.1,::1,192.168.1.1"])
        let failure = try #require(trial.run(request("https://many.example:\(server.port)/file/1"))?.failure)
        #expect(failure.code == .refusedAddress)
        #expect(server.accepted == 0)
    }

    @Test("Our own host does not make another one ours")
    func otherHost() throws {
        let trial = try Trial(addresses: ["other.example:\(server.port):127.0.0.1"])
        let end = trial.run(request("https://other.example:\(server.port)/file/1", own: ["localhost"]))
        #expect(end?.failure?.code == .refusedAddress)
        #expect(server.accepted == 0)
    }

    @Test(
        "A host of the own server leads to this machine only if the server is here",
        arguments: [nil, "8.8.8.8", "192.168.1.5"])
    func serverElsewhere(_ address: String?) throws {
        let end = try Trial().run(request(server.url("/file/1"), own: ["localhost"], at: address))
        #expect(end?.failure?.code == .refusedAddress)
        #expect(end?.failure?.isUnsent == true)
        let trial = try Trial(addresses: ["server.example:\(server.port):10.0.0.1,127.0.0.1,192.168.1.5"])
        let own = request("https://server.example:\(server.port)/file/1", own: ["server.example"], at: "8.8.8.8")
        #expect(trial.run(own)?.failure?.code == .refusedAddress)
        #expect(server.accepted == 0)
        #expect(try Trial().run(request(server.url("/file/1"), own: ["localhost"]))?.status == 200)
    }

    @Test("The certificate has to be for the host, and of a trusted authority")
    func certificates() throws {
        let trial = try Trial(addresses: ["other.example:\(server.port):127.0.0.1"])
        let end = trial.run(request("https://other.example:\(server.port)/file/1", own: ["other.example"]))
        #expect(end?.failure?.code == .certificate)
        var untrusted = request(server.url("/file/1"), own: ["localhost"])
        untrusted.caFile = nil
        #expect(try Trial().run(untrusted)?.failure?.code == .certificate)
        untrusted.caFile = "/nonexistent/ca.pem"
        #expect(try Trial().run(untrusted)?.failure?.code == .configuration)
        #expect(!server.records.contains { $0.method != nil })
    }

    @Test("Nobody there, no such name, a server without a word")
    func nobody() throws {
        #expect(try Trial().run(request("https://localhost:1/", own: ["localhost"]))?.failure?.code == .connect)
        let name = try Trial().run(request("https://nothing.invalid/"))?.failure
        #expect(name?.code == .name || name?.code == .timeout)
        let mute = "https://localhost:\(server.mutePort)/"
        #expect(try Trial().run(request(mute, own: ["localhost"], connect: 0.5))?.failure?.code == .timeout)
    }

    @Test("Invalid requests end with the reason")
    func invalid() throws {
        for url in ["http://localhost/", "nonsense", "https://u:p@localhost/"] {
            #expect(try Trial().run(request(url))?.failure?.code == .invalidRequest)
        }
        var request = request(server.url("/file/1"), own: ["localhost"])
        request.fields = [HeaderField("X", "y\r\nZ: w")]
        #expect(try Trial().run(request)?.failure?.code == .invalidRequest)
        request.fields = []
        request.offset = 0
        #expect(try Trial().run(request)?.failure?.code == .invalidRequest)
        #expect(server.accepted == 0)
    }

    @Test("Proxies of the environment do not count")
    func proxies() throws {
        setenv("https_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("https_proxy") }
        #expect(try Trial().run(request(server.url("/file/1"), own: ["localhost"]))?.status == 200)
    }

    @Test("A missing library is an error in words")
    func missingLibrary() {
        #expect(throws: TransferFailure(.libraryMissing, "")) { try CurlLibrary(name: "libcurl-missing.so.4") }
        let words = "libcurl-missing.so.4 is not installed; apt install libcurl4"
        do throws(TransferFailure) { _ = try CurlLibrary(name: "libcurl-missing.so.4") } catch {
            #expect(error.description == words)
        }
        // A library without curl's functions.
        #expect(throws: TransferFailure(.libraryMissing, "")) { try CurlLibrary(name: "libc.so.6") }
    }
}
