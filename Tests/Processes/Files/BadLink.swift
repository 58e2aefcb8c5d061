import Foundation
import KalijLab
import Testing

/// The slow or bad way to a server's HTTPS port, and to its XMPP port (`Tests/Programs/link.py`).
final class BadLink {
    /// The port that leads to the upload service.
    let filesPort: Int
    /// The port that leads to the XMPP server.
    let port: Int
    private var running: Running?
    private var commands = 0

    init() throws { (filesPort, port) = (try freePort(), try freePort()) }

    struct Event: Decodable {
        let event: String
        let at: Double
        let link: Int?
        let bytes: Int?
        let manner: String?
    }

    func begin(_ server: any XMPPServer, in laboratory: Laboratory) async throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/link.py").path
        let target = try #require(server.uploads?.port)
        running = try Running(
            laboratory.launch("/usr/bin/python3", [program, "\(filesPort):\(target)", "\(port):\(server.port)"]))
        let isReady = try await until { try events("ready").count == 1 }
        #expect(isReady)
    }

    /// A command, taken when this function returns.
    func tell(_ command: String) async throws {
        commands += 1
        try running?.process.write(line: command)
        let isDone = try await until { try events("done").count == commands }
        #expect(isDone, "\(command)")
    }

    func events(_ name: String) throws -> [Event] {
        let decoder = JSONDecoder()
        return try (running?.lines ?? []).compactMap { try? decoder.decode(Event.self, from: Data($0.utf8)) }
            .filter { $0.event == name }
    }

    /// A server whose files go through this link, with alice.
    func world(_ kind: ServerKind, users: [String] = ["alice", "bob"]) async throws -> World {
        var options = ServerOptions()
        options.uploads = UploadLimits(size: 10 << 20, dailyQuota: 1_000_000_000_000, namedPort: filesPort)
        let world = try await World(kind, options: options, users: users)
        try await begin(world.server, in: world.laboratory)
        return world
    }
}

/// Files that were accepted for somebody, and what the server's archive says of them.
struct SentFiles {
    let world: World
    private(set) var sums: [String: Int] = [:]

    init(_ world: World) { self.world = world }

    /// Accepts a file of random bytes.
    /// - Returns: the message's id.
    mutating func accept(_ count: Int, for recipient: String = "bob@localhost", _ more: String...) throws -> String {
        let path = world.laboratory.path("to-send-\(UUID().uuidString).bin")
        let handle = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        try #require(try handle.read(upToCount: count)).write(to: URL(fileURLWithPath: path))
        let outcome = try world.kalij.run(["--json", "send", recipient, "--file", path, "--queue-only"] + more)
        try #require(outcome.status == 0, "\(outcome.errors)")
        try note(path)
        try FileManager.default.removeItem(atPath: path)
        return try #require(try outcome.objects().first?["origin_id"] as? String)
    }

    /// The file was accepted.
    mutating func note(_ path: String) throws { sums[try Self.sum(of: path), default: 0] += 1 }

    static func sum(of path: String) throws -> String {
        let running = try Running(Launch(executable: "/usr/bin/sha256sum", arguments: [path]))
        #expect(running.process.ended()?.status == 0)
        return String(try running.output.prefix(64))
    }

    /// All accepted files were announced once, and no others; each URL gives the whole file.
    func expectWhole(to users: [String] = ["bob"]) async throws {
        var found: [String: Int] = [:]
        for user in users {
            for entry in try await world.peer(user).archive() {
                guard let url = entry.body, url.hasPrefix("https://") else { continue }
                let path = world.laboratory.path("got-\(UUID().uuidString)")
                try await world.laboratory.run(
                    "/usr/bin/curl",
                    ["-sS", "--fail", "--cacert", world.server.certificateAuthority, "-o", path, url])
                found[try Self.sum(of: path), default: 0] += 1
            }
        }
        #expect(found == sums, "\(world.server.kind): \(found.count) of \(sums.count)")
    }

    /// Whether no file is on its way any more.
    func isDone() throws -> Bool { try world.kalij("uploads").status == 1 }
}

extension Running {
    /// Waits until the server has the message of a file.
    func acked(_ id: String, _ world: World) async throws {
        let isAcked = try await until {
            try events().contains {
                $0["event"] as? String == "state" && $0["origin_id"] as? String == id
                    && $0["state"] as? String == "acked"
            }
        }
        let row = try await world.sql("SELECT state, reason, failures, looks, slots, not_before FROM upload")
        let seen = try events().suffix(8).map { "\($0["event"] ?? "") \($0["transfer"] ?? "") \($0["reason"] ?? "")" }
        try #require(isAcked, "\(world.server.kind): \(row); \(seen)")
    }
}

extension Launch {
    init(executable: String, arguments: [String]) {
        self.init(executable: executable)
        self.arguments = arguments
    }
}
