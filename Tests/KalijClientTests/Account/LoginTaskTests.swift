import Foundation
import Glibc
import KalijAddress
import KalijLab
import KalijTransport
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijCore

/// Logging in from a task.
@Suite(.serialized) struct LoginTaskTests {
    private let scratch: ScratchDirectory
    private let directory: AccountDirectory
    private let jid: JID

    init() throws {
        scratch = try ScratchDirectory()
        directory = AccountDirectory(scratch.file("data"))
        jid = try JID("juliet@localhost")
    }

    private func logIn(port: UInt16, caFile: String? = nil) async throws {
        let server = ServerSettings(override: HostAndPort("127.0.0.1:\(port)"), directTLS: true, caFile: caFile)
        try await directory.addAccount(jid, password: "secret", resource: "test", server: server, within: hangLimit)
    }

    private func until(_ condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(hangLimit)
        while ContinuousClock.now < end {
            if condition() { return true }
            try? await sleep(for: .milliseconds(5))
        }
        return false
    }

    private var accounts: Int { get throws { directory.exists ? try AccountTable(directory.read()).all().count : 0 } }

    @Test("the account is stored once the server has accepted the password")
    func stored() async throws {
        let server = try ScriptedServer("idle")
        try await logIn(port: server.port, caFile: try ScriptedServer.Identity.shared.get().certificate)
        #expect(try accounts == 1)
    }

    @Test("a certificate that is not trusted is named by its SHA-256, and nothing is stored")
    func fingerprint() async throws {
        let server = try ScriptedServer("idle")
        let certificate = try ScriptedServer.Identity.shared.get().certificate
        var shown: String?
        do {
            try await logIn(port: server.port)
            Issue.record("logged in")
        } catch LoginError.unreachable(let failure) {
            #expect(failure.kind == .untrusted)
            shown = failure.certificateFingerprint
        }
        let (openssl, output) = (Process(), Pipe())
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        openssl.arguments = ["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"]
        openssl.standardOutput = output
        try openssl.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        openssl.waitUntilExit()
        #expect(try printed.contains("=" + #require(shown)))
        #expect(try accounts == 0)
    }

    @Test("a task that is cancelled ends at once, though the server says nothing; nothing is stored")
    func cancelled() async throws {
        // Connections wait in the queue of this socket, and nobody answers.
        let listener = try SilentListener()
        let port = listener.port
        let login = Task { try await logIn(port: port) }
        try #require(await until { listener.takesConnection() })
        login.cancel()
        await #expect(throws: CancellationError.self) { try await login.value }
        try #require(await until { listener.isEnded() })
        #expect(try accounts == 0)
        let early = Task { try await logIn(port: port) }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
    }
}

/// Takes one connection and says nothing.
private final class SilentListener {
    private let descriptor: Int32
    private var connection: Int32 = -1
    let port: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] in
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isListening)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
        if connection >= 0 { close(connection) }
    }

    /// Takes a connection that waits.
    func takesConnection() -> Bool {
        connection = accept(descriptor, nil, nil)
        return connection >= 0
    }

    /// Whether the other side has ended the connection.
    func isEnded() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return count == 0 || errno == ECONNRESET }
        }
    }
}
