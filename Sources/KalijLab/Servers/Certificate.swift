/// A certificate for the laboratory's names, and a client's authority.
struct Certificate: Sendable {
    /// PEM.
    let certificate: String
    /// PEM, not encrypted.
    let key: String
    /// The file of authorities for clients, PEM.
    let authority: String

    /// Makes a P-256 key and a certificate for `localhost`, its services and 127.0.0.1, good for a month. The
    /// certificate is self-signed.
    /// - Parameters:
    ///   - member: of a federation, whose authority signs a certificate for the member's domain instead.
    ///   - isLarge: whether there are so many names that the certificate takes 2.3 kB.
    static func make(
        in folder: String, laboratory: Laboratory, member: FederationMember? = nil, isLarge: Bool = false
    ) async throws -> Certificate {
        try makeDirectory(folder)
        let domain = member?.domain ?? "localhost"
        let (certificate, key) = ("\(folder)/localhost.crt", "\(folder)/localhost.key")
        let names = ["", "conference.", "upload."].map { "DNS:\($0)\(domain)" } + ["IP:127.0.0.1"]
        let more = isLarge ? (0..<29).map { "DNS:\(String(repeating: "x", count: 50)).\($0).\(domain)" } : []
        var arguments = ["-addext", "subjectAltName=\((names + more).joined(separator: ","))"]
        if let authority = member?.authority { arguments += ["-CA", authority.certificate, "-CAkey", authority.key] }
        try await make(certificate, key, of: domain, arguments, laboratory: laboratory)
        return Certificate(
            certificate: certificate, key: key, authority: member?.authority.certificate ?? certificate)
    }

    /// Makes the authority of a federation.
    static func authority(in folder: String, laboratory: Laboratory) async throws -> Certificate {
        try makeDirectory(folder)
        let (certificate, key) = ("\(folder)/authority.crt", "\(folder)/authority.key")
        try await make(certificate, key, of: "Authority of the laboratory", [], laboratory: laboratory)
        return Certificate(certificate: certificate, key: key, authority: certificate)
    }

    private static func make(
        _ certificate: String, _ key: String, of name: String, _ arguments: [String], laboratory: Laboratory
    ) async throws {
        try await laboratory.run(
            try Tool.openssl.path(),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate,
            ] + arguments)
    }
}
