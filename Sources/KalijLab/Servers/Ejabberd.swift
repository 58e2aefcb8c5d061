import Glibc
import Synchronization

/// ejabberd 23.01 of Debian 12, or ejabberd 24.12 of Debian 13, started without `ejabberdctl`, because that program insists on root.
///
/// The Erlang system gets no node name, so no port mapper (`epmd`) is started, which would outlive the server.
public final class Ejabberd: XMPPServer {
    public let kind = ServerKind.ejabberd
    public let domain: String
    public let port: Int
    public var directTLSPort: Int { port + 1 }
    public let certificateAuthority: String
    public var logPath: String { folder + "/log/ejabberd.log" }
    public var uploads: UploadStore? {
        UploadStore(kind: kind, port: uploadPort, folder: folder + "/upload", limits: uploadLimits)
    }
    public var pid: Int32? { process.withLock { $0?.pid } }

    private let laboratory: Laboratory
    private let folder: String
    private let member: FederationMember?
    private let release: DebianRelease
    // The three other ports are a client's two, and that of the commands.
    private let uploadPort: Int
    private let uploadLimits: UploadLimits
    private let process = Mutex<Subprocess?>(nil)

    private static let libraries = "/usr/lib/x86_64-linux-gnu"

    /// Writes configuration and certificate; starts nothing yet.
    public init(in laboratory: Laboratory, options: ServerOptions = ServerOptions()) async throws {
        self.laboratory = laboratory
        member = options.member
        release = options.release
        domain = options.member?.domain ?? "localhost"
        folder = laboratory.path(options.member?.domain ?? "ejabberd")
        port = try threeFreePorts()
        uploadPort = try freePort()
        uploadLimits = options.uploads
        try makeDirectory(folder)
        try makeDirectory(folder + "/log")
        let certificate = try await Certificate.make(
            in: folder + "/certs", laboratory: laboratory, member: options.member, isLarge: options.largeCertificate)
        certificateAuthority = certificate.authority
        try writeText(
            readText(of: certificate.key) + readText(of: certificate.certificate), to: folder + "/localhost.pem")
        let values = [
            "@DIR@": folder, "@DOMAIN@": domain, "@AUTHORITY@": certificateAuthority,
            "@PORT@": "\(port)", "@PORT1@": "\(port + 1)", "@PORT2@": "\(port + 2)",
            "@HTTPS@": "\(uploadPort)", "@NAMED@": "\(options.uploads.namedPort ?? uploadPort)",
            "@LIMIT@": "\(options.uploads.size)",
            "@ARCHIVE@": options.archive.rawValue, "@ASSUME@": options.archive == .always ? "true" : "false",
            "@RESUME@": "\(options.resumeSeconds)", "@QUEUE@": "\(options.queueLimit ?? 5000)",
        ]
        var configuration = resourceText(PackageResources.ejabberd_yml)
        if let port = options.componentPort {
            let listener = """
                listen:
                  - port: \(port)
                    ip: 127.0.0.1
                    module: ejabberd_service
                    access: all
                    hosts: {push.localhost: {password: component-key}}
                """
            configuration = configuration.replacing("listen:", with: listener)
        }
        if options.oneFlight, release != .installed {
            configuration = configuration.replacing("modules:\n", with: "modules:\n  mod_auth_fast: {}\n")
        }
        if options.archive != .always {
            configuration = configuration.replacing("modules:\n", with: "modules:\n  mod_offline: {}\n")
        }
        if options.registration != .nobody {
            let module = "  mod_register: {ip_access: all, access: all, access_remove: all}\n"
            configuration =
                "registration_timeout: infinity\n"
                + configuration.replacing("modules:\n", with: "modules:\n" + module)
        }
        if let member { configuration = try federated(configuration, member) }
        for (name, value) in values { configuration = configuration.replacing(name, with: value) }
        try writeText(configuration, to: folder + "/ejabberd.yml")
        try await makeArchive(folder + "/archive.sqlite", laboratory: laboratory)
    }

    /// The configuration of a server in a federation. Erlang does not query the DNS.
    private func federated(_ configuration: String, _ member: FederationMember) throws -> String {
        try writeText("{lookup, [file]}.\n{hosts_file, \"/dev/null\"}.\n{resolv_conf, \"/dev/null\"}.\n", to: inetrc)
        let listener = "listen:\n  - {port: \(ServerLink.port), ip: \(member.address), module: ejabberd_s2s_in}\n"
        // By default ejabberd waits up to five minutes after a failed connection before it tries again.
        let options = "s2s_access: all\ns2s_use_starttls: required\ns2s_cafile: @AUTHORITY@\ns2s_max_retry_delay: 5"
        return configuration.replacing("listen:\n", with: listener).replacing("s2s_access: none", with: options)
    }
    private var inetrc: String { folder + "/inetrc" }

    /// ejabberd finds other servers by SRV records, or by the system's `getaddrinfo`; not by Erlang's own table of hosts. So
    /// the records are put into Erlang's memory of DNS, good for a day.
    private var knownServers: [String] {
        guard let member else { return [] }
        let records = member.names.map { name, address in
            "inet_db:add_rr(\"_xmpp-server._tcp.\(name)\", in, srv, 86400, {0, 0, \(ServerLink.port), \"\(address)\"})"
        }
        return ["-eval", records.joined(separator: ", ") + "."]
    }

    public func start() async throws {
        try await startAgain(startOnce)
    }

    private func startOnce() async throws {
        let old = LogTail.end(of: logPath)
        // Native code recurses once for each nested element: with the usual 128 KiB of stack a stanza of 12,000
        // nested elements is a segmentation fault of the whole server (measured). 8192 words of 1024 is the most.
        var launch = try laboratory.launch(
            .erl, of: release,
            [
                "+sss", "8192", "+sssdcpu", "8192", "-noinput", "-mnesia", "dir", "\"\(folder)/spool\"",
            ] + knownServers + ["-s", "ejabberd", "-eval", firstQuery])
        launch.environment.merge([
            "ERL_LIBS": Self.libraries, "EJABBERD_CONFIG_PATH": folder + "/ejabberd.yml",
            "EJABBERD_LOG_PATH": logPath, "EJABBERD_PID_PATH": folder + "/pid", "HOME": folder,
            "ERL_CRASH_DUMP": "/dev/null", "TZ": "UTC",
        ]) { $1 }
        if member != nil { launch.environment["ERL_INETRC"] = inetrc }
        launch.directory = folder
        unlink(archiveMark)
        launch.errors = .file(folder + "/console")
        let started = try Subprocess(launch)
        process.withLock { $0 = started }
        try await waitForLine(
            "Start accepting TCP connections at 127.0.0.1:\(port + 2)", in: logPath, after: old, of: started,
            failure: "Failed to open socket", console: folder + "/console")
        let deadline = ContinuousClock.now + .seconds(hungAfter)
        while access(archiveMark, F_OK) != 0 {
            guard ContinuousClock.now < deadline, started.ending() == nil else {
                throw LaboratoryError("ejabberd's archive was never ready: \(readText(of: logPath).suffix(800))")
            }
            try await sleep(for: .milliseconds(20))
        }
    }

    /// The archive's database workers start with the first query, and a query during their start fails: its message is lost to
    /// the archive (measured). So the laboratory makes the first query, once everything else runs.
    private var firstQuery: String {
        """
        F = fun G() -> case catch lists:keymember(ejabberd, 1, application:which_applications()) of true -> \
        case catch ejabberd_sql:sql_query(<<"\(domain)">>, <<"SELECT 1">>) of {selected, _, _} -> \
        file:write_file("\(archiveMark)", ""); _ -> timer:sleep(20), G() end; _ -> timer:sleep(20), G() end end, spawn(F).
        """
    }
    private var archiveMark: String { folder + "/archive-runs" }

    public func stop() async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        await running?.stop(seconds: hungAfter)
    }

    public func register(_ user: String, password: String) async throws {
        let request = """
            import json, sys, urllib.request
            port, host, user, password = sys.argv[1:]
            body = json.dumps({"user": user, "host": host, "password": password}).encode()
            urllib.request.urlopen("http://127.0.0.1:%s/api/register" % port, body, timeout=300).read()
            """
        try await laboratory.run(try Tool.python.path(), ["-c", request, "\(port + 2)", domain, user, password])
    }

    public func sessionReader(account: String) -> any SessionLogReader {
        EjabberdSessionReader(log: logPath, account: account)
    }
}
