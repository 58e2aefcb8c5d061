import Foundation

/// Certificates and keys for the tests, made once by the `openssl` command.
struct TestKeys: Sendable {
    let directory: String

    static let shared: Result<TestKeys, any Error> = Result {
        let made = try TestKeys()
        // A static is never deinitialized.
        atexit { _ = try? FileManager.default.removeItem(atPath: TestKeys.shared.get().directory) }
        return made
    }

    func path(_ name: String) -> String { directory + "/" + name }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path(name)))) }

    private init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/kalij-http-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        try make("server", ["-subj", "/CN=localhost", "-addext", names])
        try make("client", ["-subj", "/CN=Apple Push Services: org.example"])
        let export = [
            "openssl", "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-passout", "pass:secret",
        ]
        try run(export + ["-out", "client.p12"])
        try run(export + ["-legacy", "-keypbe", "PBE-SHA1-RC2-40", "-certpbe", "PBE-SHA1-RC2-40", "-out", "old.p12"])
        try run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ec.p8"])
        try run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "p384.p8"])
        try run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa.pem"])
        for name in ["ec.p8", "rsa.pem"] {
            try run(["openssl", "pkey", "-in", name, "-pubout", "-out", name + ".pub"])
        }
        try run(["openssl", "pkey", "-in", "ec.p8", "-aes128", "-passout", "pass:x", "-out", "encrypted.p8"])
    }

    private func make(_ name: String, _ more: [String]) throws {
        try run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "30",
                "-keyout", name + ".key", "-out", name + ".pem",
            ] + more)
    }

    struct Failure: Error {
        var command: String
    }

    func run(_ words: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: words.joined(separator: " ")) }
    }
}
