import Glibc

/// Certificates for the tests, made once by the `openssl` command.
struct Certificates: Sendable {
    /// A certificate with its key.
    struct Identity: Sendable {
        let certificate: String
        let key: String
    }

    let directory: TemporaryDirectory
    var authority: String { directory.path + "/ca.pem" }

    static let shared: Result<Certificates, any Error> = Result {
        let made = try Certificates()
        // A static is never deinitialized.
        atexit { _ = try? Certificates.shared.get().directory.remove() }
        return made
    }

    private init() throws {
        directory = try TemporaryDirectory()
        try directory.write(
            """
            [ca]
            default_ca = here
            [here]
            database = index
            serial = serial
            new_certs_dir = .
            certificate = ca.pem
            private_key = ca.key
            default_md = sha256
            policy = any
            copy_extensions = copy
            unique_subject = no
            [any]
            commonName = supplied
            """, to: "ca.conf")
        try directory.write("", to: "index")
        try directory.write("1000\n", to: "serial")
        try selfSigned("ca", "Kalij Test CA", ["-addext", "basicConstraints=critical,CA:TRUE"])
        try selfSigned("alone", "example.org", ["-addext", "subjectAltName=DNS:example.org"])
        try selfSigned("stranger", "Strange CA", ["-addext", "basicConstraints=critical,CA:TRUE"])
        try issue("good", "DNS:example.org,DNS:*.wild.example.org,IP:127.0.0.1,IP:::1")
        try issue("expired", "DNS:example.org", from: "20200101000000Z", to: "20210101120000Z")
        try issue("early", "DNS:example.org", from: "20400101000000Z", to: "20410101120000Z")
        try issue("wrong", "DNS:other.example,IP:192.0.2.7")
        try issue("partial", "DNS:ex*.partial.example")
        try issue("middle", nil, commonName: "Middle CA", more: ["-addext", "basicConstraints=critical,CA:TRUE"])
        try issue("chained", "DNS:example.org", by: "middle")
        let pem = try Dictionary(
            uniqueKeysWithValues: ["chained", "middle"].map { ($0, try readText("\(directory.path)/\($0).pem")) })
        try directory.write(["chained", "middle"].compactMap { pem[$0] }.joined(), to: "chained.pem")
        try directory.write(
            (["chained"] + Array(repeating: "middle", count: 12)).compactMap { pem[$0] }.joined(), to: "long.pem")
        for hash in ["sha1", "sha384", "sha512"] {
            try selfSigned(hash, "example.org", ["-" + hash, "-addext", "subjectAltName=DNS:example.org"])
        }
        try selfSigned(
            "ed25519", "example.org", ["-addext", "subjectAltName=DNS:example.org"], key: ["-newkey", "ed25519"])
        // The common name alone counts for nothing (RFC 9525 2).
        try issue("nameless", nil, commonName: "example.org")
    }

    subscript(name: String) -> Identity {
        Identity(certificate: "\(directory.path)/\(name).pem", key: "\(directory.path)/\(name).key")
    }

    /// Makes the certificate "brief". Only one test may do so.
    func issueBrief(until end: Int) throws -> Identity {
        try issue("brief", "DNS:example.org", to: Self.text(of: end))
        return self["brief"]
    }

    private static func text(of seconds: Int) -> String {
        var seconds = seconds
        var fields = tm()
        gmtime_r(&seconds, &fields)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y%m%d%H%M%SZ", &fields)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func selfSigned(
        _ name: String, _ commonName: String, _ more: [String],
        key: [String] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    ) throws {
        try Command.run(
            ["openssl", "req", "-x509"] + key + [
                "-nodes", "-keyout", name + ".key", "-out", name + ".pem", "-days", "30", "-subj", "/CN=" + commonName,
            ] + more, in: directory.path)
    }

    private func issue(
        _ name: String, _ alternatives: String?, commonName: String = "somebody", from: String = "20200101000000Z",
        to: String = "20490101000000Z", by authority: String = "ca", more: [String] = []
    ) throws {
        let extensions = more + (alternatives.map { ["-addext", "subjectAltName=" + $0] } ?? [])
        try Command.run(
            [
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                name + ".key", "-out", name + ".csr", "-subj", "/CN=" + commonName,
            ] + extensions, in: directory.path)
        try Command.run(
            [
                "openssl", "ca", "-batch", "-config", "ca.conf", "-in", name + ".csr", "-out", name + ".pem",
                "-notext", "-startdate", from, "-enddate", to, "-cert", authority + ".pem", "-keyfile",
                authority + ".key",
            ], in: directory.path)
    }
}
