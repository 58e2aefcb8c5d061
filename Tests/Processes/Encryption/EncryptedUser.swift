import Foundation
import KalijLab
import Testing

/// A user of `kalij`, with a directory of its own and, most of the time, a process that runs.
final class EncryptedUser {
    let kalij: Kalij
    private(set) var run: Running?

    init(_ kalij: Kalij) { self.kalij = kalij }

    convenience init(_ user: String, _ world: World, directory: String? = nil) throws {
        let kalij = try Kalij(data: world.laboratory.path(directory ?? "data-\(user)"))
        #expect(try kalij.login(world.server, as: "\(user)@localhost").status == 0)
        self.init(kalij)
    }

    /// Runs until the keys are published and the archive was read.
    func ready() async throws {
        let run = try self.run ?? kalij.running()
        self.run = run
        try await run.event("caught_up")
        let isReady = try await until { try kalij("omemo", "status").status == 0 }
        let status = try kalij("omemo", "status")
        #expect(isReady, "\(status)")
    }

    /// Runs with OMEMO 2 besides 0.3.
    func readyWithVersion2() async throws {
        try await ready()
        #expect(try kalij("omemo", "version2", "on", "--wait").status == 0)
        try await version2("ready")
    }

    /// Waits until the keys of OMEMO 2 have the state; nil: the version is not used.
    func version2(_ state: String?) async throws {
        var status: [String: Any] = [:]
        let isThere = try await until {
            status = try kalij("--json", "omemo", "status").objects().first ?? [:]
            return status["version2"] as? String == state
        }
        #expect(isThere, "\(status)")
    }

    /// The id of this device.
    var device: Int {
        get throws { try #require(kalij("--json", "omemo", "status").objects().first?["device"] as? Int) }
    }

    /// Runs, and waits for nothing.
    func begin() async throws { run = try kalij.running() }

    func end() {
        if let run { #expect(run.end(SIGTERM).status == 0) }
        run = nil
    }

    func kill() {
        run?.process.signal(SIGKILL)
        run?.process.ended()
        run = nil
    }

    /// Copies the directory, as a backup does; nobody drives.
    func copyDirectory() throws {
        try? FileManager.default.removeItem(atPath: kalij.data + "-copy")
        try FileManager.default.createDirectory(atPath: kalij.data + "-copy", withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: kalij.data) where !name.hasSuffix(".sock") {
            try FileManager.default.copyItem(atPath: "\(kalij.data)/\(name)", toPath: "\(kalij.data)-copy/\(name)")
        }
    }

    /// Puts the copy back.
    func restoreDirectory() throws {
        try FileManager.default.removeItem(atPath: kalij.data)
        try FileManager.default.moveItem(atPath: kalij.data + "-copy", toPath: kalij.data)
    }

    struct Line: CustomStringConvertible {
        let id: String
        let body: String?
        let from: String
        let state: String?
        let error: String?
        let encryption: [String: Any]?

        var description: String { "\(from): \(body ?? "-") \(state ?? "") \(error ?? "") \(encryption ?? [:])" }
    }

    /// The lines of all conversations, oldest first.
    func messages(_ limit: Int = 10_000) throws -> [Line] {
        try kalij("--json", "history", "--limit", "\(limit)").objects()
            .filter { $0["event"] as? String == "message" }.map { object in
                Line(
                    id: object["origin_id"] as? String ?? "", body: object["body"] as? String,
                    from: object["from"] as? String ?? "",
                    state: object["state"] as? String, error: object["error"] as? String,
                    encryption: object["encryption"] as? [String: Any])
            }
    }

    /// Waits until a message of the user's has failed.
    func fails(_ body: String, because reason: String) async throws {
        var line: Line?
        let hasFailed = try await until {
            line = try messages().first { $0.body == body }
            return line?.state == "failed" && line?.error?.contains(reason) ?? false
        }
        #expect(hasFailed, "\(body): \(String(describing: line))")
    }

    /// Waits for a message.
    func has(_ body: String, from sender: String) async throws {
        let isThere = try await until {
            try messages().contains { $0.body == body && $0.from.hasPrefix(sender) }
        }
        let all = try messages()
        #expect(isThere, "\(body) of \(sender) is not among \(all)")
    }
}
