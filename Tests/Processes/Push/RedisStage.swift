import Foundation
import Glibc
import KalijLab
import Testing

/// A real Redis, in a folder removed by the caller: each node has a user that may write its own stream alone.
final class RedisStage {
    let port: Int
    private let folder: String
    private var process: Subprocess?

    static let password = "a password of Redis"

    init(folder: String, nodes: [String]) throws {
        self.folder = folder
        port = try freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let users = nodes.map { node in
            "user \(node) on \">\(Self.password)\" resetchannels -@all +xread +xrange +xinfo|stream +ping +time "
                + "%R~{kp}:log:* (%RW~{kp}:log:\(node) +xadd +xtrim)"
        }
        let settings = [
            "port \(port)", "bind 127.0.0.1", "dir \(folder)", "save \"\"", "appendonly no",
            "logfile \(folder)/redis.log",
            "maxmemory-policy noeviction",
        ]
        try (settings + users).joined(separator: "\n").write(
            toFile: folder + "/redis.conf", atomically: true, encoding: .utf8)
        try Self.password.write(toFile: folder + "/password", atomically: true, encoding: .utf8)
    }

    deinit { kill() }

    func start() throws {
        var launch = Launch(executable: try Tool(name: "redis-server", package: "redis-server").path())
        launch.arguments = [folder + "/redis.conf"]
        launch.output = .file(folder + "/output")
        process = try Subprocess(launch)
        for _ in 0..<100 {
            if (try? command("PING")) == "PONG" { return }
            // Redis says nothing when it is ready: asked again until it answers, ten seconds at most.
            usleep(100_000)
        }
        throw LaboratoryError("redis-server does not answer; see \(folder)/redis.log")
    }

    func kill() {
        process?.signal(SIGKILL)
        process?.ended(within: 20)
        process = nil
    }

    /// Stops answering without ending, or goes on.
    func freeze(_ isFrozen: Bool) { process?.signal(isFrozen ? SIGSTOP : SIGCONT) }

    /// A command of the operator; the reply as `redis-cli` prints it.
    @discardableResult
    func command(_ words: String...) throws -> String {
        var launch = Launch(executable: try Tool(name: "redis-cli", package: "redis-tools").path())
        launch.arguments = ["-p", "\(port)"] + words
        let running = try Running(launch)
        running.process.ended(within: 20)
        return try running.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The settings of a node.
    func settings(_ node: String, others: [String], secret: String) -> [String: Any] {
        [
            "name": node, "others": others, "secretFile": secret,
            "redis": [["host": "127.0.0.1", "port": port, "user": node, "passwordFile": folder + "/password"]],
        ]
    }
}
