import KalijAddress
import KalijClient
import KalijRoles
import KalijStore

enum LoginCommand: Command {
    static let name = "login"
    static let usage = "JID [--server HOST:PORT] [--direct-tls] [--ca FILE] [--password-file FILE] [--history-days N]"
    static let summary = "check an account and store it"
    static let details = """
        Connects to the account's server, checks the password and stores the account in the data directory, readable by
        you alone: as SCRAM keys, from which the password cannot be read, or as it is where the server only takes PLAIN.
        Doing it again replaces the password. The password comes from a prompt, from --password-file (its first line),
        or from the environment variable KALIJ_PASSWORD.

        The first time online it fetches the last 14 days of the archive, or as many as --history-days says; `kalij history
        --older` fetches more at any time.

        After the first login no weaker mechanism is accepted from the server.

        example:
          kalij login juliet@example.org
        """
    static let options: [Arguments.Option] = [
        .value("--server", "HOST:PORT", "connect there instead of asking DNS for the domain's servers"),
        .flag("--direct-tls", "TLS from the first byte on (XEP-0368)"),
        .value("--ca", "FILE", "trust the certificate authorities in this PEM file, no others"),
        .value("--password-file", "FILE", "read the password from this file"),
        .value("--history-days", "N", "how far the first reading of the archive looks back (default 14)"),
    ]

    private struct Record: Encodable {
        let event = "login"
        let account: String
        let mechanism: String
    }

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try JID(arguments.words[0])
        guard jid.local != nil else { throw Failure(.badInput, "\(jid) names no account, only a server") }
        let server = try settings(arguments)
        let days = try arguments.integer("--history-days", in: 0...Int(AccountTable.longestHistory))
        let password = try Password.read(file: arguments.value("--password-file"), for: jid)
        // Before anything is asked of a server: the directory must be of use.
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let login: SuccessfulLogin
        do { login = try Login.attempt(jid, password: password, server: server) } catch let error as LoginError {
            throw Failure(error, wayOut: wayOut(of: error, server))
        }
        try shared.directory.ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: jid.resource ?? newResource(),
                historyDays: days)
        }
        let mechanism = login.mechanism.rawValue
        if shared.json {
            Output.line(try JSONLine.of(Record(account: jid.bare.description, mechanism: mechanism)))
        } else {
            Output.line("\(jid.bare) can log in (\(mechanism)) and is stored in \(shared.directory.path)")
        }
        return .done
    }

    /// The user's possible remedy, if known.
    private static func wayOut(of error: LoginError, _ server: ServerSettings) -> String? {
        switch error {
        case .noStream: "if it speaks TLS from the first byte on, say so with --direct-tls"
        case .unreachable(let failure) where failure.kind == .untrusted:
            "if you trust it, say so with --ca FILE: a PEM file with that certificate, or with its issuer's"
        case .unreachable(let failure) where failure.kind == .tls && server.directTLS:
            "if that port begins without TLS (STARTTLS, often port 5222), leave out --direct-tls"
        default: nil
        }
    }

    /// A different resource for each installation, so that the clients do not push one another out.
    private static func newResource() -> String { "kalij." + String(UInt32.random(in: .min ... .max), radix: 36) }

    private static func settings(_ arguments: Arguments) throws -> ServerSettings {
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
