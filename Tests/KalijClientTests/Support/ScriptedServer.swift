import Foundation
import KalijLab
import TestSupport

/// The laboratory's scripted server in a process of its own: direct TLS on loopback, and behaviour that real servers
/// never show.
final class ScriptedServer {
    struct Failure: Error { let reason: String }

    let port: UInt16
    private let process = Process()
    private let output = Pipe()

    /// - Parameter mode: the script's mode and arguments, as in its usage.
    init(_ mode: String...) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let identity = try Identity.shared.get()
        port = UInt16(try freePort())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments =
            [
                root.appendingPathComponent("Sources/KalijLab/Resources/scripted.py").path, "--port", "\(port)",
                "--cert",
                identity.certificate, "--key", identity.key,
            ] + mode
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        guard try line() == "ready" else { throw Failure(reason: "the scripted server does not start") }
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The next printed line; waits for the line.
    func line() throws -> String {
        var bytes: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A self-signed certificate for localhost.
    struct Identity: Sendable {
        let certificate: String
        let key: String
        private let scratch: ScratchDirectory

        static let shared: Result<Identity, any Error> = Result { try Identity() }

        private init() throws {
            scratch = try ScratchDirectory()
            (certificate, key) = (scratch.file("cert.pem"), scratch.file("key.pem"))
            let openssl = Process()
            openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            openssl.arguments = [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                certificate,
            ]
            openssl.standardError = FileHandle.nullDevice
            try openssl.run()
            openssl.waitUntilExit()
            // The directory lives as long as the process, so no deinit removes it.
            atexit { if case .success(let made) = Identity.shared { made.scratch.remove() } }
            guard openssl.terminationStatus == 0 else { throw Failure(reason: "openssl makes no certificate") }
        }
    }
}
