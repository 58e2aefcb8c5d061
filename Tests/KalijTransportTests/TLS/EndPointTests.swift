import Testing

/// RFC 5929 4.1, the channel binding `tls-server-end-point`.
@Suite struct EndPointTests {
    /// The certificate's hash, by the `openssl` command.
    private func fingerprint(_ certificate: String, _ hash: String) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let output = directory.path + "/fingerprint"
        let command = ["openssl", "x509", "-in", certificate, "-noout", "-fingerprint", "-" + hash]
        #expect(try Command(command, output: output).wait() == 0)
        let text = try readText(output).split(separator: "=").last ?? ""
        return text.split(separator: ":").compactMap { UInt8($0.prefix(2), radix: 16) }
    }

    @Test(
        "The hash is the signature's, SHA-256 in place of SHA-1, and there is none for a signature without a hash",
        arguments: [
            ("alone", "sha256"), ("sha1", "sha256"), ("sha384", "sha384"), ("sha512", "sha512"), ("ed25519", nil),
        ])
    func hashes(name: String, hash: String?) throws {
        let identity = try Certificates.shared.get()[name]
        let server = try Server {
            $0.secure(identity)
            _ = $0.read()
        }
        let dialogue = try Dialogue(port: server.port, directTLS: .only, caFile: identity.certificate)
        #expect(dialogue.waitForSecurity())
        dialogue.connection.abort()
        server.stop()
        #expect(try dialogue.info?.serverEndPoint == hash.map { try fingerprint(identity.certificate, $0) })
        #expect(dialogue.info?.isResumed == false)
    }
}
