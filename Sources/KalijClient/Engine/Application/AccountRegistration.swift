import KalijAddress
import KalijCore
import KalijStream
import KalijTransport

/// The registration of a new account at a server (XEP-0077), optionally with an invitation (XEP-0445).
public struct AccountRegistration: Sendable {
    /// The domain of the new account.
    public let domain: String
    /// The token of the invitation; nil without an invitation.
    public let token: String?
    /// How the server is reached and trusted.
    public let server: ServerSettings
    /// The timeout for the server in seconds, without the time that the form takes.
    public var timeout = 60.0
    /// The invitation, whose inviter becomes a contact of the account; nil without one.
    public private(set) var invitation: InvitationLink?

    /// - Parameters:
    ///   - domain: the domain of the new account.
    ///   - token: the token of an invitation; nil without an invitation.
    ///   - server: how the server is reached and trusted.
    public init(at domain: String, token: String? = nil, server: ServerSettings = ServerSettings()) {
        (self.domain, self.token, self.server) = (domain, token, server)
    }

    /// - Parameters:
    ///   - invitation: an invitation to make an account, or to become a contact.
    ///   - domain: the domain of the new account; nil for that of the invitation.
    ///   - server: how the server is reached and trusted.
    public init(
        _ invitation: InvitationLink, at domain: String? = nil, server: ServerSettings = ServerSettings()
    ) {
        let domain = domain ?? invitation.domain
        // Another server does not recognize the token.
        let isForAccount = invitation.makesAccount && domain == invitation.domain
        self.init(at: domain, token: isForAccount ? invitation.token : nil, server: server)
        self.invitation = invitation
    }

    /// A registered account, with its first login.
    public struct Outcome: Sendable {
        /// The address of the account.
        public let jid: JID
        /// The login, to be stored.
        public let login: SuccessfulLogin
    }

    /// Registers an account over one connection, and logs in over another. Blocks the thread.
    ///
    /// An address that is taken, and accepts the password, is logged in to: an earlier attempt may have ended before its login.
    /// - Parameter answer: completes the server's form.
    /// - Throws: `RegistrationError`, `LoginError`, `SystemError`, the error of `answer`. Unless the server has refused the
    ///   registration, it is undetermined after an error whether the account exists.
    public func attempt(_ answer: @escaping (RegistrationForm) throws -> NewAccount) throws -> Outcome {
        try attempt(on: nil, registered: {}, answer)
    }

    /// - Parameters:
    ///   - running: what cancels the attempt; nil if nothing does.
    ///   - registered: called once the server has made the account.
    func attempt(
        on running: RunningLogin?, registered: () -> Void,
        _ answer: @escaping (RegistrationForm) throws -> NewAccount
    ) throws -> Outcome {
        let address = try JID(domain)
        var account: NewAccount?
        let registration = try Login(registeringAt: address, token: token) { form in
            let made = try answer(form)
            guard made.jid.local != nil, made.jid.domain == address.domain else {
                throw RegistrationError.field("\(made.jid) is no address at \(address.domain)")
            }
            account = made
            return made
        }
        do { _ = try run(registration, of: address, on: running) } catch let error as RegistrationError
            where error.isTaken
        {
            guard let account, let known = try? logIn(to: account, on: running) else { throw error }
            return known
        }
        guard let account else { throw LoginError.failed("the registration ended without an account") }
        registered()
        return try logIn(to: account, on: running)
    }

    private func logIn(to account: NewAccount, on running: RunningLogin?) throws -> Outcome {
        let login = try Login(account.jid, password: account.password)
        guard let found = try run(login, of: account.jid, on: running) else { throw LoginError.failed("no login") }
        return Outcome(jid: account.jid, login: found)
    }

    private func run(_ login: Login, of jid: JID, on running: RunningLogin?) throws -> SuccessfulLogin? {
        guard running?.begin(login) ?? true else { throw CancellationError() }
        return try login.run(server, of: jid, within: timeout)
    }
}
