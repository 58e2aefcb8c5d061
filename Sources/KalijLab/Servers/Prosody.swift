import Synchronization

/// Prosody 0.12 of Debian 12, or Prosody 13.0 of Debian 13.
public final class Prosody: XMPPServer {
    public let kind = ServerKind.prosody
    public let domain: String
    public let port: Int
    public var directTLSPort: Int { port + 1 }
    public let certificateAuthority: String
    public var logPath: String { folder + "/prosody.log" }
    public var uploads: UploadStore? {
        let host = UploadStore.prosodyName("upload." + domain)
        return UploadStore(
            kind: kind, port: port + 2, folder: folder + "/data/\(host)/http_file_share", limits: options.uploads)
    }
    public var pid: Int32? { process.withLock { $0?.pid } }

    private let laboratory: Laboratory
    private let folder: String
    private let options: ServerOptions
    private let process = Mutex<Subprocess?>(nil)

    /// Writes configuration and certificate; starts nothing yet.
    public init(in laboratory: Laboratory, options: ServerOptions = ServerOptions()) async throws {
        self.laboratory = laboratory
        self.options = options
        domain = options.member?.domain ?? "localhost"
        folder = laboratory.path(options.member?.domain ?? "prosody")
        port = try threeFreePorts()
        try makeDirectory(folder)
        try makeDirectory(folder + "/data")
        let certificate = try await Certificate.make(
            in: folder + "/certs", laboratory: laboratory, member: options.member, isLarge: options.largeCertificate)
        certificateAuthority = certificate.authority
        try makeDirectory(folder + "/plugins")
        try writeText(resourceText(PackageResources.mod_lab_names_lua), to: folder + "/plugins/mod_lab_names.lua")
        try writeText(resourceText(PackageResources.prosody_cfg_lua), to: folder + "/prosody.cfg.lua")
        try await makeArchive(folder + "/archive.sqlite", laboratory: laboratory)
    }

    private var environment: [String: String] {
        var values = ["SERVER_DIR": folder, "SERVER_PORT": "\(port)", "SMACKS_TTL": "\(options.resumeSeconds)"]
        if let limit = options.queueLimit { values["SMACKS_QUEUE"] = "\(limit)" }
        values["UPLOAD_LIMIT"] = "\(options.uploads.size)"
        if let quota = options.uploads.dailyQuota { values["UPLOAD_QUOTA"] = "\(quota)" }
        if let port = options.uploads.namedPort { values["UPLOAD_PORT"] = "\(port)" }
        values["REGISTRATION"] = options.registration.rawValue
        values["ARCHIVE_POLICY"] = options.archive.rawValue
        // Debian 12 has a module of the same name, with which no login of Prosody 0.12 succeeds.
        if options.oneFlight, options.release != .installed { values["ONE_FLIGHT"] = "1" }
        if options.tickets { values["TLS_TICKETS"] = "1" }
        if let port = options.componentPort { values["COMPONENT_PORT"] = "\(port)" }
        if let member = options.member {
            values["DOMAIN"] = domain
            values["S2S_ADDRESS"] = member.address
            values["S2S_NAMES"] = member.names.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            values["S2S_AUTHORITY"] = certificateAuthority
        }
        return values
    }

    public func start() async throws {
        try await startAgain(startOnce)
    }

    private func startOnce() async throws {
        let old = LogTail.end(of: logPath)
        var launch = try laboratory.launch(
            .prosody, of: options.release, ["--config", folder + "/prosody.cfg.lua", "-F"])
        launch.environment.merge(environment) { $1 }
        launch.directory = folder
        launch.output = .file(folder + "/console")
        launch.errors = .file(folder + "/console")
        let started = try Subprocess(launch)
        process.withLock { $0 = started }
        try await waitForLine(
            "Activated service 'c2s_direct_tls' on [127.0.0.1]:\(directTLSPort)", in: logPath, after: old, of: started,
            failure: "Failed to open server port", console: folder + "/console")
    }

    public func stop() async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        await running?.stop(seconds: hungAfter)
    }

    public func register(_ user: String, password: String) async throws {
        try await laboratory.run(
            .prosodyctl, of: options.release,
            ["--config", folder + "/prosody.cfg.lua", "register", user, domain, password],
            environment: environment)
    }

    /// The link of a new invitation to register an account (XEP-0401). The server must be running.
    public func invitation() async throws -> String {
        let output = try await laboratory.run(
            .prosodyctl, of: options.release,
            ["--config", folder + "/prosody.cfg.lua", "mod_invites", "generate", domain], environment: environment)
        guard let link = output.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("xmpp:") }) else {
            throw LaboratoryError("prosodyctl made no invitation: \(output)")
        }
        return String(link)
    }

    public func sessionReader(account: String) -> any SessionLogReader {
        ProsodySessionReader(log: logPath, account: account)
    }
}
