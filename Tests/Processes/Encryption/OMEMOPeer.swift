import Foundation
import Glibc
import KalijLab
import Testing

/// A device of somebody else's: python-omemo in a process of its own (`Tests/Programs/omemo/omemo_peer.py`).
final class OMEMOPeer {
    private let launch: Launch
    private var running: Running?
    private var earlier: [[String: Any]] = []
    private var sent: [(id: String, to: String, body: String)] = []

    /// - Parameter name: of the device's folder.
    init(_ user: String, _ world: World, name: String) {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/omemo/omemo_peer.py").path
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [
                program, world.laboratory.path(name), "\(user)@localhost", "\(world.server.port)", "--ca",
                world.server.certificateAuthority,
            ])
        launch.environment["PEER_PASSWORD"] = "secret"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        self.launch = launch
    }

    /// Starts, and gives the commands again that it had not accepted when it was killed: their ids decide.
    func begin() throws {
        let accepted = Set(reports("accepted").compactMap { $0["id"] as? String })
        running = try Running(launch)
        for message in sent where !accepted.contains(message.id) { try give(message) }
    }

    func ready() async throws { try await #require(running).event("online", seconds: 60) }

    func send(_ body: String, to: String) throws {
        sent.append((body.replacing(" ", with: "-"), to, body))
        try give(sent[sent.count - 1])
    }

    private func give(_ message: (id: String, to: String, body: String)) throws {
        let command = ["do": "send", "id": message.id, "to": message.to, "body": message.body]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: command), as: UTF8.self)
        try #require(running).process.write(line: text)
    }

    func kill() throws {
        guard let running else { return }
        running.process.signal(SIGKILL)
        running.process.ended(within: 10)
        earlier += try running.events()
        self.running = nil
    }

    /// The reports of a kind, each once: what may not have been read before a kill comes again.
    func reports(_ events: String...) -> [[String: Any]] {
        var numbers: Set<Int> = []
        return (earlier + ((try? running?.events()) ?? [])).filter { report in
            guard events.contains(report["event"] as? String ?? "") else { return false }
            return (report["seq"] as? Int).map { numbers.insert($0).inserted } ?? true
        }
    }

    /// The texts that came, encrypted.
    var bodies: [String] {
        reports("message").filter { $0["encrypted"] as? Bool == true }.compactMap { $0["body"] as? String }
    }

    /// What should not have come: texts in plain, what could not be read, and what could not be done.
    var troubles: [[String: Any]] {
        reports("undecryptable", "repeated", "failed", "error", "left-out")
            + reports("message").filter { $0["encrypted"] as? Bool != true }
    }
}
