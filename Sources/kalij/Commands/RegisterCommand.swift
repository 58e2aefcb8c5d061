import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore
import KalijStream
import KalijText
import KalijXML

enum RegisterCommand: Command {
    static let name = "register"
    static let usage =
        "JID|LINK [JID] [--token T] [--field NAME=VALUE] [--server HOST:PORT] [--direct-tls] [--ca FILE] [--password-file FILE]"
    static let summary = "make a new account at a server, and store it"
    static let details = """
        Registers the address JID at its server (XEP-0077), checks the login and stores the account, as `kalij login` does.
        LINK is an invitation, such as xmpp:example.org?register;preauth=TOKEN (XEP-0401, XEP-0445); with a link that names no
        user, JID says the wanted address. --token gives the token of an invitation by itself.

        The server's instructions are shown. What the server asks besides name and password is asked at the terminal, or given
        by --field NAME=VALUE, once for each field. Some servers want the text of a picture, which a terminal cannot show, or a
        registration on a web page: the command says so. The password comes as in `kalij login`; at the terminal the password
        is asked for twice.

        If this process is killed, the same command goes on: an address that is taken, and takes the password, is stored.

        examples:
          kalij register juliet@example.org
          kalij register 'xmpp:example.org?register;preauth=TOKEN' juliet@example.org
        """
    static let options: [Arguments.Option] = [
        .value("--token", "T", "the token of an invitation"),
        .value("--field", "NAME=VALUE", "answer a question of the server"),
        .value("--server", "HOST:PORT", "connect to this address instead of the DNS answer for the domain"),
        .flag("--direct-tls", "begin with TLS from the first byte (XEP-0368)"),
        .value("--ca", "FILE", "trust only the authorities, or the self-signed server certificate, in this PEM file"),
        .value("--password-file", "FILE", "read the password from this file"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let (jid, token) = try parseTarget(arguments)
        let fields = try Self.fields(arguments)
        let server = try LoginCommand.settings(arguments)
        let password = try Password.read(file: arguments.value("--password-file"), for: jid, isNew: true)
        // Before any request to a server: the directory must be usable.
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let made: AccountRegistration.Outcome
        do {
            made = try AccountRegistration(at: jid.domain, token: token, server: server).attempt { form in
                NewAccount(jid, password: password, values: try RegistrationPrompt(form, given: fields).answers())
            }
        } catch let error as RegistrationError {
            throw Failure(error)
        } catch let error as LoginError {
            throw Failure(error, wayOut: LoginCommand.wayOut(of: error, at: jid.domain, server))
        }
        return try LoginCommand.store(jid, made.login, server, historyDays: nil, database, shared)
    }

    /// The address to register, and the token of the invitation.
    private static func parseTarget(_ arguments: Arguments) throws -> (JID, token: String?) {
        let links = arguments.operands.filter { $0.lowercased().hasPrefix("xmpp:") }
        let words = arguments.operands.filter { !links.contains($0) }
        guard links.count < 2, words.count < 2 else { throw Failure(.usage, "register takes a JID and a link") }
        guard let link = links.first else {
            return (try LoginCommand.account(words[0]).bare, arguments.value("--token"))
        }
        guard let uri = XMPPURI(link) else { throw Failure(.badInput, "the link is no address of XMPP") }
        guard let invitation = InvitationLink(uri), invitation.makesAccount else {
            throw Failure(.badInput, "the link does not invite to register an account")
        }
        let named = invitation.account
        guard let jid = try words.first.map({ try LoginCommand.account($0).bare }) ?? named else {
            throw Failure(.usage, "the link names no user: say the wanted address, as in romeo@\(invitation.domain)")
        }
        guard jid.domain == invitation.domain, named == nil || named == jid else {
            throw Failure(.badInput, "the link invites to \(named ?? uri.jid.bare), not to \(jid)")
        }
        return (jid, arguments.value("--token") ?? invitation.token)
    }

    private static func fields(_ arguments: Arguments) throws -> [String: [String]] {
        var fields: [String: [String]] = [:]
        for line in arguments.all("--field") {
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[0].isEmpty else {
                throw Failure(.usage, "--field takes NAME=VALUE, not \"\(line)\"")
            }
            fields[String(pair[0]), default: []].append(String(pair[1]))
        }
        return fields
    }
}

extension Failure {
    /// A registration that failed.
    init(_ error: RegistrationError) {
        switch error {
        case .notOffered, .invitation, .refused, .elsewhere: self.init(.refused, "\(error)")
        case .field: self.init(.badInput, "\(error); --field NAME=VALUE answers a question")
        case .invalidAnswer, .expired: self.init(.unavailable, "\(error)")
        }
    }
}

/// Prompts at the terminal for the fields of the server's registration form.
private struct RegistrationPrompt {
    private let form: RegistrationForm
    private let given: [String: [String]]

    init(_ form: RegistrationForm, given: [String: [String]]) { (self.form, self.given) = (form, given) }

    /// - Returns: values by field name; optional fields only if they were given.
    func answers() throws -> [String: [String]] {
        for line in form.instructions { Output.notice("the server says: \(line)") }
        if let link = form.link { Output.notice("the server also registers at \(link)") }
        var answers = given
        for field in form.fields {
            guard let name = field.name, answers[name] == nil, field.isRequired, field.values.isEmpty else { continue }
            answers[name] = [try prompt(field, name)]
        }
        return answers
    }

    private func prompt(_ field: DataForm.Field, _ name: String) throws -> String {
        let uris = field.media.flatMap(\.uris).map(\.uri)
        for uri in uris where uri.hasPrefix("http") { Output.notice("look at \(uri)") }
        if !uris.isEmpty, !uris.contains(where: { $0.hasPrefix("http") }) {
            Output.notice(
                "the server asks about a picture that a terminal cannot show; another client can register the account")
        }
        for option in field.options {
            Output.notice("a possible answer is \(option.value): \(option.label ?? option.value)")
        }
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(.usage, "the server asks for \"\(field.label ?? name)\": answer with --field \(name)=VALUE")
        }
        guard
            let line = try PasswordPrompt.readLine(
                "\(field.label ?? name): ", isHidden: field.effectiveType == .textPrivate)
        else {
            throw Failure(.badInput, "no answer was given")
        }
        return String(decoding: line, as: UTF8.self)
    }
}
