/// A self-signed certificate for the laboratory's names, and a client's authority.
struct Certificate: Sendable {
    /// PEM; also the file of authorities for clients.
    let certificate: String
    /// PEM, not encrypted.
    let key: String

    /// Makes a P-256 key and a certificate for `localhost`, its services and 127.0.0.1, good for a month.
    static func make(in folder: String, laboratory: Laboratory) async throws -> Certificate {
        try makeDirectory(folder)
        let made = Certificate(certificate: "\(folder)/localhost.crt", key: "\(folder)/localhost.key")
        let names = "DNS:localhost,DNS:conference.localhost,DNS:upload.localhost,IP:127.0.0.1"
        try await laboratory.run(
            try Tool.openssl.path(),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=\(names)", "-keyout", made.key,
                "-out", made.certificate,
            ])
        return made
    }
}
