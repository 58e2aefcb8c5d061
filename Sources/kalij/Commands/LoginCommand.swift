import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore

enum LoginCommand: Command {
    static let name = "login"
    static let usage = "JID [--server HOST:PORT] [--direct-tls] [--ca FILE] [--password-file FILE] [--history-days N]"
    static let summary = "check an account and store it"
    static let details = """
        Connects to the account's server, checks the password and stores the account in the data directory, readable by you
        alone. SCRAM keys are stored instead of the password; only for a server that takes nothing but PLAIN, the password
        itself. Another login replaces the password. The password comes from a prompt, from --password-file (the first line),
        or from the environment variable KALIJ_PASSWORD.

        The first time online, the last 14 days of the archive are fetched, or the days of --history-days; `kalij history
        --older` fetches more at any time.

        After a login no weaker one is accepted from the server: by mechanism, by binding to TLS, or without SASL2.

        example:
          kalij login juliet@example.org
        """
    static let options: [Arguments.Option] = [
        .value("--server", "HOST:PORT", "connect to this address instead of the DNS answer for the domain"),
        .flag("--direct-tls", "begin with TLS from the first byte (XEP-0368)"),
        .value("--ca", "FILE", "trust only the authorities, or the self-signed server certificate, in this PEM file"),
        .value("--password-file", "FILE", "read the password from this file"),
        .value("--history-days", "N", "first read so many days of the archive (default 14)"),
    ]

    private struct Record: Encodable {
        let event = "login"
        let account: String
        let mechanism: String
    }

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try account(arguments.operands[0])
        let server = try settings(arguments)
        let days = try arguments.integer("--history-days", in: 0...Int(AccountTable.longestHistory))
        let password = try Password.read(file: arguments.value("--password-file"), for: jid)
        // Before any request to a server: the directory must be usable.
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        return try logIn(jid, password, server, historyDays: days, database, shared)
    }

    /// The address of an account on the command line.
    static func account(_ word: String) throws -> JID {
        let jid = try JID(word)
        guard jid.local != nil else { throw Failure(.badInput, "\(jid) names no account, only a server") }
        return jid
    }

    /// Verifies the account at its server, and stores it.
    static func logIn(
        _ jid: JID, _ password: String, _ server: ServerSettings, historyDays days: Int?, _ database: Database,
        _ shared: SharedOptions
    ) throws -> ExitStatus {
        let login: SuccessfulLogin
        do { login = try Login.attempt(jid, password: password, server: server) } catch let error as LoginError {
            throw Failure(error, wayOut: wayOut(of: error, at: jid.domain, server))
        }
        return try store(jid, login, server, historyDays: days, database, shared)
    }

    /// Stores an account after a login.
    static func store(
        _ jid: JID, _ login: SuccessfulLogin, _ server: ServerSettings, historyDays days: Int?, _ database: Database,
        _ shared: SharedOptions
    ) throws -> ExitStatus {
        try shared.directory.ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: jid.resource ?? newResource(),
                historyDays: days)
        }
        Output.accepted()
        let mechanism = login.mechanism.rawValue
        if shared.json {
            Output.line(try JSONLine.of(Record(account: jid.bare.description, mechanism: mechanism)))
        } else {
            Output.line("\(jid.bare) can log in (\(mechanism)) and is stored in \(shared.directory.path)")
        }
        return .done
    }

    /// A possible remedy for the user; nil if there is none.
    static func wayOut(of error: LoginError, at domain: String, _ server: ServerSettings) -> String? {
        switch error {
        case .noStream: "if it speaks TLS from the first byte on, say so with --direct-tls"
        case .unreachable(let failure) where failure.kind == .untrusted:
            "if you trust it, say so with --ca FILE: a PEM file with that certificate, or with its issuer's"
        case .unreachable(let failure) where failure.kind == .tls && failure.description.contains("handshake failure"):
            "the server may have no certificate for \(domain)"
        case .unreachable(let failure) where failure.kind == .tls && server.directTLS:
            "if that port begins without TLS (STARTTLS, often port 5222), leave out --direct-tls"
        default: nil
        }
    }

    /// A different resource for each installation, so that the clients do not replace one another's sessions.
    private static func newResource() -> String { "kalij." + String(UInt32.random(in: .min ... .max), radix: 36) }

    /// How the server is reached and trusted.
    static func settings(_ arguments: Arguments) throws -> ServerSettings {
        var settings = ServerSettings(directTLS: arguments.has("--direct-tls"), caFile: nil)
        if let text = arguments.value("--server") {
            guard let server = HostAndPort(text) else {
                throw Failure(.usage, "--server takes HOST:PORT, not \"\(text)\"")
            }
            settings.override = server
        }
        if let file = arguments.value("--ca") { settings.caFile = try Files.absolute(existing: file) }
        return settings
    }
}
