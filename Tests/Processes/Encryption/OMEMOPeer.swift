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

    /// The versions of OMEMO that the device reads and writes.
    let formats: Formats

    enum Formats: String {
        case old = "0.3"
        case new = "2"
        case both

        /// Whether devices of `self` read what devices of `other` write.
        func reads(_ other: Formats) -> Bool { self == other || self == .both || other == .both }
    }

    /// - Parameter name: of the device's folder.
    init(_ user: String, _ world: World, name: String, _ formats: Formats = .old) {
        self.formats = formats
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/omemo/omemo_peer.py").path
        var launch = world.laboratory.launch(
            "/usr/bin/python3",
            [
                program, world.laboratory.path(name), "\(user)@localhost", "\(world.server.port)", "--ca",
                world.server.certificateAuthority, "--ns", formats.rawValue,
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

    func ready() async throws { try await #require(running).event("online") }

    /// - Parameter to: somebody, or a room.
    func send(_ body: String, to: String) throws {
        sent.append((body.replacing(" ", with: "-"), to, body))
        try give(sent[sent.count - 1])
    }

    private func give(_ message: (id: String, to: String, body: String)) throws {
        let target = message.to.contains("@conference.") ? "room" : "to"
        try command(["do": "send", "id": message.id, target: message.to, "body": message.body])
    }

    func join(_ room: String, as nick: String) async throws {
        try command(["do": "join", "room": room, "nick": nick])
        try await #require(running).event("joined")
    }

    private func command(_ command: [String: String]) throws {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: command), as: UTF8.self)
        try goOn()
        try #require(fault == nil, "a peer has ended by itself: \(fault ?? "")")
        try #require(running).process.write(line: text)
    }

    /// How the program has ended by itself, with its last errors; nil while it runs.
    var fault: String? {
        guard let running, let ending = running.process.ending() else { return nil }
        return "\(ending): \((try? running.errors)?.suffix(800) ?? "")"
    }

    /// Starts again if the program has ended because its server has not answered, or has refused its keys: ejabberd cannot find a
    /// node that it is making for another device. A program that has ended otherwise stays ended, and fails the test.
    func goOn() throws {
        guard let fault, let ending = running?.process.ending() else { return }
        guard ending == .exited(69) || fault.contains("UploadFailed") else { return }
        print("a peer begins again: \(fault)")
        try kill()
        try begin()
    }

    func kill() throws {
        guard let running else { return }
        running.process.signal(SIGKILL)
        running.process.ended()
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

    /// How many messages came that have no part in a version that the device knows.
    var unknown: Int { reports("undecryptable").count(where: Self.isUnknown) }

    private static func isUnknown(_ report: [String: Any]) -> Bool {
        report["reason"] as? String == "namespace urn:xmpp:omemo:2"
            || report["reason"] as? String == "namespace eu.siacs.conversations.axolotl"
    }

    /// What should not have come: texts in plain, what could not be read, and what could not be done.
    var troubles: [[String: Any]] {
        reports("undecryptable", "repeated", "failed", "error", "left-out").filter { !Self.isUnknown($0) }
            + reports("message").filter { $0["encrypted"] as? Bool != true }
    }

    /// Waits for a text, and gives the report.
    @discardableResult
    func has(_ body: String) async throws -> [String: Any] {
        var report: [String: Any]?
        _ = await until(every: 100) {
            report = reports("message").first { $0["body"] as? String == body }
            return report != nil
        }
        #expect(report?["encrypted"] as? Bool == true, "\(body): \(bodies), \(troubles)")
        return report ?? [:]
    }
}
