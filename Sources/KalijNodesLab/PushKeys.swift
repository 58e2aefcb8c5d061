import FoundationEssentials
import KalijLab
import KalijPushLab

/// The keys and the stand-in for Apple of a push server, in a folder.
public enum PushKeys {
    /// Makes a certificate for 127.0.0.1 (`server.pem`, `server.key`), and a provider's key (`ec.p8`, `ec.pub`).
    /// - Throws: `LaboratoryError` if openssl is missing or fails.
    public static func make(in folder: String) throws {
        _ = try Tool(name: "openssl", package: "openssl").path()
        var launch = Launch(executable: "/bin/sh")
        launch.arguments = [
            "-ec",
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout server.key \
            -out server.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.p8
            openssl pkey -in ec.p8 -pubout -out ec.pub
            """,
        ]
        launch.directory = folder
        guard try Subprocess(launch).blockingWait(seconds: LabLimits.hang) == .exited(0) else {
            throw LaboratoryError("openssl made no keys in \(folder)")
        }
    }

    /// A stand-in for Apple with these keys; port 0 takes a free port.
    public static func apns(in folder: String, port: UInt16 = 0, keeps: Bool = true) throws -> LabAPNs {
        var options = LabServer.Options(certificate: folder + "/server.pem", key: folder + "/server.key")
        options.port = port
        return try LabAPNs(options, publicKey: folder + "/ec.pub", keeps: keeps)
    }
}

/// Writes a new file.
/// - Throws: `LaboratoryError` with the system's reason.
func writeLabFile(_ text: String, to path: String) throws {
    do {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch { throw LaboratoryError("cannot write \(path): \(error)") }
}
