/// The server software.
public enum ServerKind: String, Sendable, CaseIterable, Codable {
    case prosody
    case ejabberd
}

/// Which messages a user's archive keeps without a choice of the user (XEP-0441). Messages that are not archived are
/// stored for offline users in the old way (XEP-0160).
public enum ArchivePolicy: String, Sendable, CaseIterable, Codable {
    case always
    /// Messages from and to contacts. The laboratory's accounts have none.
    case roster
    case never
}

/// Who may register an account (XEP-0077).
public enum RegistrationPolicy: String, Sendable {
    case nobody
    case anybody
    /// Who has an invitation (XEP-0445); Prosody alone.
    case invited
}

/// The options of a server.
public struct ServerOptions: Sendable {
    /// How long a session without a connection can be resumed, in seconds.
    public var resumeSeconds: Int
    /// The port for the component `push.localhost` (XEP-0114, key "component-key"); nil for none.
    public var componentPort: Int?
    /// A session with more unacknowledged stanzas cannot be resumed; nil for the server's own limit (Prosody 500,
    /// ejabberd 5,000).
    public var queueLimit: Int?
    /// Which messages the users' archives keep.
    public var archive = ArchivePolicy.always
    /// Who may register an account. Unless nobody may, users may change their passwords and remove their accounts, too.
    public var registration = RegistrationPolicy.nobody
    /// Whose server runs.
    public var release = DebianRelease.standard
    /// Whether Debian 13's servers offer what Debian leaves off: Prosody's modules for SASL2, Bind 2, resuming inside the login, FAST and
    /// XEP-0474, and ejabberd's for FAST. Debian 12's servers have none of them.
    public var oneFlight = false
    /// Whether Prosody takes the TLS tickets that it sends; as installed, neither server takes any.
    public var tickets = false
    /// Whether the certificate takes 2.3 kB, as that of a usual authority does with its intermediate one, and not 0.6 kB.
    public var largeCertificate = false
    /// What the upload service accepts (XEP-0363).
    public var uploads = UploadLimits()
    /// The server's part in a federation; nil for a server alone.
    var member: FederationMember?

    /// Sessions can be resumed for ten minutes by default.
    public init(resumeSeconds: Int = 600, componentPort: Int? = nil, queueLimit: Int? = nil) {
        self.resumeSeconds = resumeSeconds
        self.componentPort = componentPort
        self.queueLimit = queueLimit
    }
}

/// A real XMPP server on 127.0.0.1, run from a laboratory's directory with its own certificate.
public protocol XMPPServer: Sendable {
    var kind: ServerKind { get }
    /// The domain of the accounts: `localhost`, unless the server is a member of a federation.
    var domain: String { get }
    /// STARTTLS.
    var port: Int { get }
    /// TLS from the first byte (XEP-0368).
    var directTLSPort: Int { get }
    /// The PEM file of authorities for clients to trust the server.
    var certificateAuthority: String { get }
    /// The server's own log.
    var logPath: String { get }
    /// The upload service; nil if the server has none.
    var uploads: UploadStore? { get }
    /// The server's process, and its group; nil if the server is not running, or its process cannot be determined.
    var pid: Int32? { get }

    /// Starts the server and returns once clients can connect.
    /// - Throws: ``LaboratoryError`` with the end of the log if the server has ended, or hangs.
    func start() async throws
    /// Ends the server with SIGTERM; a server that hangs is killed.
    func stop() async
    /// Creates an account. The server must be running.
    func register(_ user: String, password: String) async throws
    /// Reads an account's sessions from the server's log, from its present end. The account should be new.
    func sessionReader(account: String) -> any SessionLogReader
}

extension XMPPServer {
    public var uploads: UploadStore? { nil }
    public var pid: Int32? { nil }

    /// Ends the server and starts the server again on the same ports with the same data. Sessions do not survive a
    /// restart.
    public func restart() async throws {
        await stop()
        try await start()
    }
}

/// Makes a server of a kind, not started yet, in a folder of the laboratory with the kind's name.
public func makeServer(
    _ kind: ServerKind, in laboratory: Laboratory, options: ServerOptions = ServerOptions()
) async throws -> any XMPPServer {
    switch kind {
    case .prosody: try await Prosody(in: laboratory, options: options)
    case .ejabberd: try await Ejabberd(in: laboratory, options: options)
    }
}

/// Makes and starts a server with the accounts `users` and the password "secret".
public func startedServer(
    _ kind: ServerKind, in laboratory: Laboratory, options: ServerOptions = ServerOptions(),
    users: [String] = ["alice", "bob"]
) async throws -> any XMPPServer {
    let server = try await makeServer(kind, in: laboratory, options: options)
    try await server.start()
    for user in users { try await server.register(user, password: "secret") }
    return server
}

/// A server does not get its port.
struct PortTaken: Error, CustomStringConvertible {
    let description: String
}

extension XMPPServer {
    /// Starts a server whose port may be taken for a moment: an outgoing connection can have the port if the system's
    /// range of ports is wide.
    func startAgain(_ start: () async throws -> Void) async throws {
        for _ in 0..<5 {
            do {
                return try await start()
            } catch is PortTaken {
                await stop()
                try await sleep(for: .seconds(1))
            }
        }
        try await start()
    }
}

/// The text of a configuration file embedded in the program.
func resourceText(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
}

/// Makes the empty file of a server's message archive.
///
/// Both servers commit each archived message by itself. SQLite's usual journal takes several writes to the disk for a
/// commit, and a server falls behind at fifty messages a second. A write-ahead log, remembered in the file, takes a
/// single write.
func makeArchive(_ path: String, laboratory: Laboratory) async throws {
    try await laboratory.run(try Tool.sqlite.path(), ["-batch", path, "PRAGMA journal_mode = WAL; VACUUM"])
}

/// Waits until a server's log shows that the server is ready, or never will be.
func waitForLine(
    _ wanted: String, in log: String, after offset: Int, of process: Subprocess, failure: String, console: String
) async throws {
    var tail = LogTail(path: log, from: offset)
    let deadline = ContinuousClock.now + .seconds(hungAfter)
    while ContinuousClock.now < deadline {
        let lines = tail.newLines()
        if let line = lines.first(where: { $0.contains(failure) }) {
            throw PortTaken(description: "\(process.name) cannot start: \(line)")
        }
        if lines.contains(where: { $0.contains(wanted) }) { return }
        if let ending = process.ending() {
            let said = readText(of: console).suffix(800) + readText(of: log).suffix(800)
            throw LaboratoryError("\(process.name) ended while starting with \(ending): \(said)")
        }
        try await sleep(for: .milliseconds(10))
    }
    throw LaboratoryError("\(process.name) was not ready after \(hungAfter) s: \(readText(of: log).suffix(800))")
}
