import Glibc
import Synchronization

/// ejabberd 23.01 of Debian 12, started without `ejabberdctl`, because that program insists on root.
///
/// The Erlang system gets no node name, so no port mapper (`epmd`) is started, which would outlive the server.
public final class Ejabberd: XMPPServer {
    public let kind = ServerKind.ejabberd
    public let port: Int
    public var directTLSPort: Int { port + 1 }
    public let certificateAuthority: String
    public var logPath: String { folder + "/log/ejabberd.log" }

    private let laboratory: Laboratory
    private let folder: String
    private let process = Mutex<Subprocess?>(nil)

    private static let libraries = "/usr/lib/x86_64-linux-gnu"

    /// Writes configuration and certificate; starts nothing yet.
    public init(in laboratory: Laboratory, options: ServerOptions = ServerOptions()) async throws {
        self.laboratory = laboratory
        folder = laboratory.path("ejabberd")
        port = try threeFreePorts()
        try makeDirectory(folder)
        try makeDirectory(folder + "/log")
        let certificate = try await Certificate.make(in: folder + "/certs", laboratory: laboratory)
        certificateAuthority = certificate.certificate
        try writeText(
            readText(of: certificate.key) + readText(of: certificate.certificate), to: folder + "/localhost.pem")
        let values = [
            "@DIR@": folder, "@PORT@": "\(port)", "@PORT1@": "\(port + 1)", "@PORT2@": "\(port + 2)",
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
        if options.archive != .always {
            configuration = configuration.replacing("modules:\n", with: "modules:\n  mod_offline: {}\n")
        }
        if options.registration != .nobody {
            let module = "  mod_register: {ip_access: all, access: all, access_remove: all}\n"
            configuration =
                "registration_timeout: infinity\n"
                + configuration.replacing("modules:\n", with: "modules:\n" + module)
        }
        for (name, value) in values { configuration = configuration.replacing(name, with: value) }
        try writeText(configuration, to: folder + "/ejabberd.yml")
        try await makeArchive(folder + "/archive.sqlite", laboratory: laboratory)
    }

    public func start() async throws {
        try await startAgain(startOnce)
    }

    private func startOnce() async throws {
        let old = LogTail.end(of: logPath)
        // Native code recurses once for each nested element: with the usual 128 KiB of stack a stanza of 12,000
        // nested elements is a segmentation fault of the whole server (measured). 8192 words of 1024 is the most.
        var launch = laboratory.launch(
            try Tool.erl.path(),
            [
                "+sss", "8192", "+sssdcpu", "8192", "-noinput", "-mnesia", "dir", "\"\(folder)/spool\"",
                "-s", "ejabberd", "-eval", firstQuery,
            ])
        launch.environment.merge([
            "ERL_LIBS": Self.libraries, "EJABBERD_CONFIG_PATH": folder + "/ejabberd.yml",
            "EJABBERD_LOG_PATH": logPath, "EJABBERD_PID_PATH": folder + "/pid", "HOME": folder,
            "ERL_CRASH_DUMP": "/dev/null", "TZ": "UTC",
        ]) { $1 }
        launch.directory = folder
        unlink(archiveMark)
        launch.errors = .file(folder + "/console")
        let started = try Subprocess(launch)
        process.withLock { $0 = started }
        try await waitForLine(
            "Start accepting TCP connections at 127.0.0.1:\(port + 2)", in: logPath, after: old, of: started,
            failure: "Failed to open socket", console: folder + "/console")
        for _ in 0..<2000 where access(archiveMark, F_OK) != 0 { try await Task.sleep(for: .milliseconds(20)) }
        guard access(archiveMark, F_OK) == 0 else {
            throw LaboratoryError("ejabberd's archive was not ready after 40 s: \(readText(of: logPath).suffix(800))")
        }
    }

    /// The archive's database workers start with the first query, and a query during their start fails: its message is
    /// lost to the archive (measured). So the first query is ours, once everything else runs.
    private var firstQuery: String {
        """
        F = fun G() -> case catch lists:keymember(ejabberd, 1, application:which_applications()) of true -> \
        case catch ejabberd_sql:sql_query(<<"localhost">>, <<"SELECT 1">>) of {selected, _, _} -> \
        file:write_file("\(archiveMark)", ""); _ -> timer:sleep(20), G() end; _ -> timer:sleep(20), G() end end, spawn(F).
        """
    }
    private var archiveMark: String { folder + "/archive-runs" }

    public func stop() async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        await running?.stop(seconds: 15)
    }

    public func register(_ user: String, password: String) async throws {
        let request = """
            import json, sys, urllib.request
            port, user, password = sys.argv[1:]
            body = json.dumps({"user": user, "host": "localhost", "password": password}).encode()
            urllib.request.urlopen("http://127.0.0.1:%s/api/register" % port, body, timeout=20).read()
            """
        try await laboratory.run(try Tool.python.path(), ["-c", request, "\(port + 2)", user, password])
    }

    public func sessionReader(account: String) -> any SessionLogReader {
        EjabberdSessionReader(log: logPath, account: account)
    }
}
