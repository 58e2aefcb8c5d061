import Foundation
import KalijLab
import Testing

/// A hostile file server in a network of its own, with names and addresses of its own (`Tests/Programs/hostile.py`). Nothing else
/// answers there, so each connection is in its books.
///
/// A file server on the laboratory's loopback would prove little: there every allowed address is also a private one. In the
/// network the addresses of the Internet lead to the hostile server, and private addresses, too.
final class HostileNetwork {
    private let running: Running
    private let folder: String
    private let data: String
    private let executable: String
    private let pid: Int
    /// SHA-256 in base64 of a file of so many bytes.
    let sums: [Int: String]
    /// The nonce and the key of the encrypted files, in hexadecimal.
    let key: String

    private struct Ready: Decodable {
        let pid: Int
        let sums: [String: String]
        let key: String
    }

    /// The network's addresses that may be connected to.
    private static let open: Set = ["20.0.0.1", "2606:aaaa::1"]

    init(_ world: World) async throws {
        folder = world.laboratory.path("hostile")
        (data, executable) = (world.laboratory.path("hostile-data"), world.kalij.executable)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/hostile.py").path
        var launch = world.laboratory.launch("/usr/bin/python3", [program, folder, "\(world.server.port)"])
        launch.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let running = try Running(launch)
        self.running = running
        _ = try await until { try !running.lines.isEmpty || !running.isRunning }
        let said = try running.errors
        let line = try #require(try running.lines.first, "\(said)")
        let ready = try JSONDecoder().decode(Ready.self, from: Data(line.utf8))
        (pid, key) = (ready.pid, ready.key)
        sums = Dictionary(uniqueKeysWithValues: ready.sums.compactMap { sum in Int(sum.key).map { ($0, sum.value) } })
        let authorities = try [folder + "/ca.pem", world.server.certificateAuthority].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try authorities.joined().write(toFile: folder + "/both.pem", atomically: true, encoding: .utf8)
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(world.server.port)", "--ca", folder + "/both.pem")
        try #require(login.status == 0, "\(login.errors)")
    }

    /// A command inside of the network.
    func begun(_ arguments: [String]) throws -> Running {
        var launch = Launch(executable: "/usr/bin/nsenter")
        launch.arguments =
            ["--preserve-credentials", "-U", "-m", "-n", "-t", "\(pid)", executable, "--data", data] + arguments
        launch.environment["LANG"] = "C.UTF-8"
        launch.environment["KALIJ_PASSWORD"] = "secret"
        let running = try Running(launch)
        running.process.closeInput()
        return running
    }

    func kalij(_ arguments: String...) throws -> Kalij.Outcome {
        let running = try begun(arguments)
        let ending = running.process.ended()
        return Kalij.Outcome(status: ending?.status ?? -1, output: try running.output, errors: try running.errors)
    }

    func sql(_ text: String, _ world: World) async throws -> String {
        try await world.laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", data + "/kalij.db", text])
    }

    /// The connections to addresses that nobody may connect to, and to ports other than that of https.
    func forbidden() throws -> [String] {
        try String(contentsOfFile: folder + "/connects", encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { line in
                let words = line.split(separator: " ")
                return words.count != 2 || words[1] != "443" || !Self.open.contains(String(words[0]))
            }
    }

    /// All files of the laboratory that are not the server's: their paths, received files relative to `files/in`.
    func files(_ world: World) -> (received: Set<String>, others: Set<String>) {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: world.laboratory.directory)) ?? []
        var (received, others) = (Set<String>(), Set<String>())
        for path in paths where !path.hasPrefix("prosody/") && !path.hasPrefix("ejabberd/") && !path.hasPrefix("run-") {
            if path.hasPrefix("hostile-data/files/in/") {
                received.insert(String(path.dropFirst("hostile-data/files/in/".count)))
            } else if !path.hasPrefix("hostile-data/") || path.hasPrefix("hostile-data/files") {
                others.insert(path)
            }
        }
        return (received, others)
    }

    func contents(_ received: String) -> Data? {
        FileManager.default.contents(atPath: data + "/files/in/" + received)
    }

    /// The hostile server's requests so far, as JSON.
    func requests() throws -> String { try String(contentsOfFile: folder + "/log", encoding: .utf8) }
}
