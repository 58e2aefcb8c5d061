import FoundationEssentials
import Glibc
import KalijLab
import KalijPushLab
import Synchronization

/// A node: `kalij-push` with an XMPP server and a provider of its own, and a line to Redis that can be slow or silent.
public final class LabNode: Sendable {
    public let name: String
    public let server: LabComponentServer
    public let apns: LabAPNs
    /// The line to Redis.
    public let line: LinkProxy
    private let executable: String
    private let laboratory: Laboratory
    private let others: [String]
    private let redis: LabRedis
    private let page: Int
    private let window: String?
    private let process = Mutex<Subprocess?>(nil)

    /// What a node consists of besides its name and its Redis.
    public struct Plan: Sendable {
        /// The path of `kalij-push`.
        public var executable: String
        public var names: [String]
        /// Between two pushes to a token; nil for no limit.
        public var window: String?

        public init(executable: String, names: [String] = ["n1", "n2", "n3"], window: String? = nil) {
            self.executable = executable
            self.names = names
            self.window = window
        }
    }

    init(_ name: String, _ plan: Plan, _ redis: LabRedis, _ laboratory: Laboratory) throws {
        self.name = name
        self.redis = redis
        self.laboratory = laboratory
        (executable, window) = (plan.executable, plan.window)
        others = plan.names.filter { $0 != name }
        page = try freePort()
        server = try LabComponentServer(key: "component-key")
        apns = try PushKeys.apns(in: laboratory.directory, keeps: false)
        line = try LinkProxy(to: redis.port)
        try FileManager.default.createDirectory(atPath: path(""), withIntermediateDirectories: true)
        try configure(secrets: ["cluster-secret"])
    }

    /// Writes the settings; they count from the next start on.
    /// - Parameter secrets: files with the clusters' secrets; the first one is written with.
    public func configure(secrets: [String]) throws {
        let secrets = secrets.map { "\"\(laboratory.path($0))\"" }
        let others = others.map { "\"\($0)\"" }.joined(separator: ", ")
        let rate = window.map { "\"ratelimitTime\": \"\($0)\"" } ?? "\"enabled\": false"
        let text = """
            {
              "http": {"port": \(page)},
              "component": {
                "componentHostname": "push.localhost", "componentKey": "component-key",
                "serverHostname": "127.0.0.1", "serverPort": \(server.port)
              },
              "pushModules": {"apple": {
                "type": "apple", "is_default_module": true, "ratelimit": {\(rate)},
                "apns": {
                  "keyFilePath": "\(laboratory.path("ec.p8"))", "keyId": "KEYID", "teamId": "TEAMID",
                  "topic": "org.example.app",
                  "endpoint": {
                    "host": "localhost", "port": \(apns.port), "caFile": "\(laboratory.path("server.pem"))"
                  }
                }
              }},
              "state": {"database": "\(path("push.db"))", "secretFile": "\(path("secret"))"},
              "timeout": {"xmppconnectionError": "1s"},
              "nodes": {
                "name": "\(name)", "others": [\(others)],
                "secretFile": \(secrets[0]), "otherSecretFiles": [\(secrets.dropFirst().joined(separator: ", "))],
                "redis": [{
                  "host": "127.0.0.1", "port": \(line.port), "user": "\(name)",
                  "passwordFile": "\(redis.passwordFile)"
                }]
              }
            }
            """
        try writeLabFile(text, to: path("settings.json"))
    }

    private func path(_ file: String) -> String { laboratory.path("\(name)/\(file)") }

    /// Starts the process; returns when the process has connected to the XMPP server.
    /// - Throws: `LaboratoryError` with the end of its log.
    public func start() throws {
        var launch = laboratory.launch(executable, ["serve", path("settings.json")])
        launch.errors = .file(path("log"))
        let started = try Subprocess(launch)
        process.withLock { $0 = started }
        server.wait { self.server.isReady || started.ending() != nil }
        guard server.isReady else {
            throw LaboratoryError("\(name) has not connected to its XMPP server: \(log.suffix(1000))")
        }
    }

    public var log: String { (try? String(contentsOfFile: path("log"), encoding: .utf8)) ?? "" }

    /// Sends a signal and waits for the end.
    /// - Returns: nil if the process hangs.
    @discardableResult
    public func end(_ signal: Int32) -> Subprocess.Ending? {
        let running = process.withLock { $0 }
        running?.signal(signal)
        let ending = running?.blockingWait(seconds: LabLimits.hang)
        server.wait { !self.server.isReady }
        return ending
    }

    /// Kills the process, and starts another without any state.
    /// - Throws: `LaboratoryError` as ``start()``.
    public func loseDisk() throws {
        end(SIGKILL)
        for name in ["push.db", "push.db-wal", "push.db-shm"] { unlink(path(name)) }
        try start()
    }

    /// Makes the provider report a device's token as unregistered (410) next.
    public func bury(_ token: String) { apns.script(token, LabAPNs.reply(410, "Unregistered")) }

    /// The answer to a publish: `result`, or the type of the error; nil if there is none in time.
    public func ask(_ token: String, domain: String = "example.org") -> String? {
        server.wait(for: server.publish(token, domain: domain))?.type
    }

    /// The figures of `/metrics` with a name, by the rest of the sample's name; nil if there is no response.
    public func figures(_ name: String) -> [String: Double]? {
        guard let text = loopbackPage(port: page, path: "/metrics") else { return nil }
        var figures: [String: Double] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("kalij_push_\(name)") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            let rest = parts[0].dropFirst("kalij_push_\(name)".count)
            if rest.isEmpty || rest.hasPrefix("{") { figures[String(rest)] = value }
        }
        return figures
    }

    /// The number of records that this node has of all nodes; nil if there is no response.
    public var records: Int? { figures("node_records").map { Int($0.values.reduce(0, +)) } }
}
