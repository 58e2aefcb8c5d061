import COpenSSL
import KalijTransport
import Testing

/// RFC 6120 13.7.2 and RFC 9525 6: the certificate is for the XMPP domain, and a person can understand why not.
@Suite struct CertificateTests {
    /// - Parameter kind: the kind of the failure, if there is one.
    private func failure(
        _ identity: String, serverName: String = "example.org", caFile: String? = nil,
        kind: ConnectFailure.Kind = .certificate
    ) throws -> String? {
        let identity = try Certificates.shared.get()[identity]
        let server = try Server { $0.secure(identity) }
        defer { server.stop() }
        let dialogue = try Dialogue(port: server.port, directTLS: .only, serverName: serverName, caFile: caFile)
        let failure = dialogue.waitForFailure()
        if let failure {
            #expect(failure.kind == kind)
            #expect(failure.attempts.map(\.port) == [server.port])
        }
        dialogue.connection.abort()
        return failure?.description.replacing("127.0.0.1:\(server.port): ", with: "")
    }

    @Test("A certificate for the domain from the trusted authority is accepted")
    func good() throws {
        #expect(try failure("good") == nil)
    }

    @Test(
        "Addresses and whole-label wildcards are verified as such",
        arguments: ["127.0.0.1", "[::1]", "a.wild.example.org"])
    func otherNames(name: String) throws {
        #expect(try failure("good", serverName: name) == nil)
    }

    @Test("A wildcard stands for one label only")
    func wildcardDepth() throws {
        #expect(try failure("good", serverName: "a.b.wild.example.org") != nil)
    }

    @Test("Expired: with the date")
    func expired() throws {
        #expect(try failure("expired") == "certificate has expired (2021-01-01)")
    }

    @Test("Not yet valid: with the date")
    func early() throws {
        #expect(try failure("early") == "certificate is not yet valid (from 2040-01-01)")
    }

    @Test("Wrong host: with the certificate's names")
    func wrong() throws {
        #expect(try failure("wrong") == "certificate is for other.example, 192.0.2.7, not for example.org")
    }

    @Test("A common name is not looked at (RFC 9525 2)")
    func commonName() throws {
        #expect(try failure("nameless") == "certificate is for no host name, not for example.org")
    }

    @Test("A wildcard inside a label is refused (RFC 9525 6.3)")
    func partial() throws {
        #expect(
            try failure("partial", serverName: "exam.partial.example")
                == "certificate is for ex*.partial.example, not for exam.partial.example")
    }

    @Test("Self-signed")
    func selfSigned() throws {
        #expect(try failure("alone", kind: .untrusted) == "certificate is self-signed")
    }

    @Test("Unknown issuer: with the issuer's name")
    func unknownIssuer() throws {
        let stranger = try Certificates.shared.get()["stranger"].certificate
        #expect(
            try failure("good", caFile: stranger, kind: .untrusted)
                == "certificate is from an unknown issuer (Kalij Test CA)")
    }

    @Test("With a CA file the system's authorities are not asked, and a wrong file is reported")
    func caFile() throws {
        let dialogue = try Dialogue(port: 1, caFile: "/nonexistent.pem")
        let failure = try #require(dialogue.waitForFailure())
        #expect(failure.kind == .configuration)
        #expect(failure.description == "example.org: cannot read CA file /nonexistent.pem: no such file or directory")
        let other = try Dialogue(port: 1, caFile: "/etc/hostname")
        #expect(other.waitForFailure()?.description.contains("cannot read CA file /etc/hostname: ") == true)
    }
}
