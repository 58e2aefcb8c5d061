import Glibc
import KalijLab
import KalijPushLab
import Synchronization

/// A real Redis on 127.0.0.1, in a folder of its own: each node has a user that may write its own stream alone.
public final class LabRedis: Sendable {
    public let port: Int
    private let laboratory: Laboratory
    private let process = Mutex<Subprocess?>(nil)

    private static let password = "a password of Redis"

    /// - Throws: `LaboratoryError` if a file cannot be written.
    public init(_ laboratory: Laboratory, nodes: [String]) throws {
        self.laboratory = laboratory
        port = try freePort()
        let users = nodes.map { node in
            "user \(node) on \">\(Self.password)\" resetchannels -@all +xread +xrange +xinfo|stream +ping +time "
                + "%R~{kp}:log:* (%RW~{kp}:log:\(node) +xadd +xtrim)"
        }
        let settings = [
            "port \(port)", "bind 127.0.0.1", "dir \(laboratory.directory)", "save \"\"", "appendonly no",
            "logfile \(log)", "maxmemory-policy noeviction",
            // Redis would write its title over the mark by which the laboratory finds its processes.
            "set-proc-title no",
        ]
        try writeLabFile((settings + users).joined(separator: "\n"), to: laboratory.path("redis.conf"))
        try writeLabFile(Self.password, to: passwordFile)
    }

    /// The file with the password of all nodes.
    public var passwordFile: String { laboratory.path("redis-password") }
    private var log: String { laboratory.path("redis.log") }

    /// Starts a server without any data; returns when it answers.
    /// - Throws: `LaboratoryError` if redis-server is missing or does not answer.
    public func start() async throws {
        let server = try Tool(name: "redis-server", package: "redis-server").path()
        let started = try Subprocess(laboratory.launch(server, [laboratory.path("redis.conf")]))
        process.withLock { $0 = started }
        let hung = ContinuousClock.now + .seconds(LabLimits.hang)
        while ContinuousClock.now < hung, started.ending() == nil {
            if try await command("PING") == "PONG" { return }
            // Redis gives no signal when it is ready: polled until it responds.
            try await sleep(for: .milliseconds(100))
        }
        throw LaboratoryError("redis-server does not answer; see \(log)")
    }

    /// Sends SIGKILL; returns when the process has ended.
    public func kill() async {
        let running = process.withLock { $0 }
        running?.signal(SIGKILL)
        _ = await running?.wait(seconds: LabLimits.hang)
    }

    /// Stops the process, so that it does not respond, or continues it.
    public func freeze(_ isFrozen: Bool) { process.withLock { $0 }?.signal(isFrozen ? SIGSTOP : SIGCONT) }

    /// A command of the operator; the reply as `redis-cli` prints it, empty if there is none.
    @discardableResult
    public func command(_ words: String...) async throws -> String {
        let client = try Tool(name: "redis-cli", package: "redis-tools").path()
        let reply = try? await laboratory.run(client, ["-p", "\(port)"] + words, seconds: 120)
        return String((reply ?? "").drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// How many entries a node's stream has; 0 if Redis does not answer.
    public func entries(of node: String) async throws -> Int { Int(try await command("XLEN", "{kp}:log:\(node)")) ?? 0 }
}
