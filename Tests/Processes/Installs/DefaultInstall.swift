import Foundation
import KalijLab
import Synchronization
import TestSupport

/// A server with the configuration file of a package, as somebody has it who installs the package.
///
/// By program only addresses of this machine are changed: ports, paths, the certificate, loopback alone, and the log. Nothing is
/// enabled that the file has not enabled. The domain of all files is `localhost`, and their rooms' domain
/// `conference.localhost`.
final class DefaultInstall: XMPPServer {
    /// Whose file, of which version.
    enum Edition: String, CaseIterable, Sendable {
        case prosody12 = "Prosody 0.12"
        case ejabberd12 = "ejabberd 23.01 by Debian"
        case ejabberd12Upstream = "ejabberd 23.01 by ProcessOne"
        case prosody13 = "Prosody 13.0"
        case ejabberd13 = "ejabberd 24.12 by Debian"
        case ejabberd13Upstream = "ejabberd 24.12 by ProcessOne"

        var kind: ServerKind {
            switch self {
            case .prosody12, .prosody13: .prosody
            case .ejabberd12, .ejabberd12Upstream, .ejabberd13, .ejabberd13Upstream: .ejabberd
            }
        }
        /// Whether the server is Debian 13's, which runs in a folder of its own.
        var isDebian13: Bool { [.prosody13, .ejabberd13, .ejabberd13Upstream].contains(self) }
        /// Debian has put comment signs before modules of ejabberd's own example.
        var isUpstream: Bool { [.ejabberd12Upstream, .ejabberd13Upstream].contains(self) }
    }

    let kind: ServerKind
    let domain = "localhost"
    let port: Int
    var directTLSPort: Int { port + 1 }
    var certificateAuthority: String { folder + "/certs/localhost.crt" }
    var logPath: String { folder + "/server.log" }

    private let laboratory: Laboratory
    /// The files of the server, and the same folder as the server sees it.
    private let folder: String
    private let inside: String
    /// The folder that the server takes for the whole system; nil for the system itself.
    private let root: String?
    private let ports: [Int]
    private let process = Mutex<Subprocess?>(nil)

    /// Writes configuration and certificate; starts nothing yet.
    /// - Parameter debian13: the folder made by `Scripts/debian13-servers`.
    init(_ edition: Edition, debian13: String?, in laboratory: Laboratory) async throws {
        self.laboratory = laboratory
        kind = edition.kind
        root = edition.isDebian13 ? (debian13 ?? "") + "/root" : nil
        inside = root == nil ? laboratory.path("server") : "/srv/\(UUID().uuidString)"
        folder = (root ?? "") + inside
        let first = [try freePort(), try freePort(), try freePort()]
        ports = first.flatMap { [$0, $0 + 1, $0 + 2] }
        port = ports[0]
        for name in ["certs", "data", "conf.d"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        try await laboratory.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,DNS:conference.localhost,IP:127.0.0.1",
                "-keyout", folder + "/certs/localhost.key", "-out", certificateAuthority,
            ])
        switch kind {
        case .prosody: try writeProsody()
        case .ejabberd: try writeEjabberd(upstream: edition.isUpstream)
        }
    }

    /// Files of a server that has a folder of its own as root are not the laboratory's.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: (root ?? "") + path, encoding: .utf8)
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    /// The file has no ports. `certificates` and `Include` are relative to the file, and stay as they are.
    private func writeProsody() throws {
        let mine = """
            run_as_root = true  -- otherwise Prosody refuses to start as root
            interfaces = { "127.0.0.1" }
            c2s_ports = { \(port) }
            c2s_direct_tls_ports = {}
            s2s_ports = {}
            s2s_direct_tls_ports = {}
            http_ports = {}
            https_ports = {}
            data_path = "\(inside)/data"
            admin_socket = "\(inside)/prosody.sock"

            """
        let shipped = try text("/etc/prosody/prosody.cfg.lua")
            .replacing(/(?m)^pidfile = .*$/, with: "pidfile = \"\(inside)/prosody.pid\"")
            .replacing(/(?ms)^log = \{.*?^\}/, with: "log = { info = \"\(inside)/server.log\" }")
        try write(mine + shipped, "prosody.cfg.lua")
        try write(try text("/etc/prosody/conf.avail/localhost.cfg.lua"), "conf.d/localhost.cfg.lua")
    }

    private func writeEjabberd(upstream: Bool) throws {
        var shipped = try text("/usr/share/ejabberd/ejabberd.yml.example")
            .replacing("/etc/ejabberd/ejabberd.pem", with: inside + "/certs/localhost.pem")
            .replacing("ip: \"::\"", with: "ip: 127.0.0.1")
        for (number, port) in [5222, 5223, 5269, 5443, 5280, 3478, 5478, 1883].enumerated() {
            shipped = shipped.replacing("port: \(port)\n", with: "port: \(ports[number])\n")
        }
        // With ProcessOne's example as the measure: the archive is all that matters for the table.
        if upstream {
            shipped = shipped.replacing(/(?m)^  ## mod_mam:\n(  ##   .*\n)+/) { found in
                found.output.0.replacing(#/(?m)^  ## /#, with: "  ")
            }
        }
        let pem = try ["key", "crt"].map {
            try String(contentsOfFile: "\(folder)/certs/localhost.\($0)", encoding: .utf8)
        }
        try write(pem.joined(), "certs/localhost.pem")
        try write(shipped, "ejabberd.yml")
    }

    // MARK: Running

    func start() async throws {
        let old = (try? String(contentsOfFile: logPath, encoding: .utf8).count) ?? 0
        var launch: Launch
        let ready: String
        switch kind {
        case .prosody:
            launch = self.launch(root == nil ? ["/usr/bin/prosody"] : ["/usr/bin/lua5.4", "/usr/bin/prosody"])
            launch.arguments += ["--config", inside + "/prosody.cfg.lua", "-F"]
            ready = "Activated service 'c2s' on [127.0.0.1]:\(port)"
        case .ejabberd:
            launch = self.launch(["/usr/bin/erl"])
            launch.arguments += [
                "-noinput", "-mnesia", "dir", "\"\(inside)/spool\"", "-s", "ejabberd", "-eval", registering,
            ]
            launch.environment.merge([
                "ERL_LIBS": "/usr/lib/x86_64-linux-gnu", "EJABBERD_CONFIG_PATH": inside + "/ejabberd.yml",
                "EJABBERD_LOG_PATH": inside + "/server.log", "EJABBERD_PID_PATH": inside + "/pid", "HOME": inside,
                "ERL_CRASH_DUMP": "/dev/null", "TZ": "UTC",
            ]) { $1 }
            ready = " is started in the node"
        }
        launch.output = .file(folder + "/console")
        launch.errors = .file(folder + "/console")
        let started = try Subprocess(launch)
        process.withLock { $0 = started }
        let isReady = await until(every: 50) {
            let log = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
            return started.ending() != nil || log.dropFirst(old).contains(ready)
        }
        guard isReady, started.ending() == nil else {
            let said = [folder + "/console", logPath].map { (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "" }
            throw LaboratoryError("\(kind) has not started: \(said.map { $0.suffix(800) }.joined(separator: "\n"))")
        }
    }

    func stop() async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        await running?.stop(seconds: hangLimit)
    }

    func register(_ user: String, password: String) async throws {
        switch kind {
        case .prosody:
            var launch = launch(root == nil ? ["/usr/bin/prosodyctl"] : ["/usr/bin/lua5.4", "/usr/bin/prosodyctl"])
            launch.arguments += ["--config", inside + "/prosody.cfg.lua", "register", user, "localhost", password]
            try await laboratory.run(launch.executable, launch.arguments)
        case .ejabberd:
            try "\(user) \(password)".write(toFile: folder + "/new-user", atomically: true, encoding: .utf8)
            let isMade = await until(every: 20) { !FileManager.default.fileExists(atPath: folder + "/new-user") }
            guard isMade else { throw LaboratoryError("ejabberd has not made the account of \(user)") }
        }
    }

    /// The file lets nobody make accounts from outside, and `ejabberdctl` wants root. So the server itself looks for a file
    /// with the name and password of a new user.
    private var registering: String {
        """
        F = fun G() -> case file:read_file("\(inside)/new-user") of {ok, T} -> [U, P] = binary:split(T, <<" ">>), \
        ok = ejabberd_auth:try_register(U, <<"localhost">>, P), ok = file:delete("\(inside)/new-user"); _ -> ok end, \
        timer:sleep(50), G() end, spawn(F).
        """
    }

    /// A program of the server's system.
    private func launch(_ words: [String]) -> Launch {
        let all = root.map { ["/usr/sbin/chroot", $0] + words } ?? words
        return laboratory.launch(all[0], Array(all.dropFirst()))
    }

    func sessionReader(account: String) -> any SessionLogReader { NoSessions() }
}

/// The files' logs are too short to tell sessions.
private struct NoSessions: SessionLogReader {
    mutating func newEvents() -> [SeenEvent] { [] }
}
