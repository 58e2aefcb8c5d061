import KalijAddress
import KalijClient

/// The user's input for where a new account is made: at a server, or by an invitation.
public struct AccountPlace: Sendable, Equatable {
    /// The link of an invitation; empty for none.
    public var link = ""
    /// The name of a server, with a port if the DNS does not have it. With an invitation to its own server: where it is reached.
    public var server = ""

    public init(link: String = "", server: String = "") { (self.link, self.server) = (link, server) }

    /// The invitation that was entered; nil for none.
    public var invitation: InvitationLink? { InvitationLink(word(link)) }

    /// Who invites, in words; nil without an invitation.
    public var inviter: String? { invitation.map(Words.invitation) }

    private func word(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    /// - Throws: `LoginForm.Problem`
    public func checked() throws(LoginForm.Problem) -> AccountRegistration {
        guard let invitation else {
            guard word(link).isEmpty else { throw LoginForm.Problem(words: Words.badInvitation) }
            let (domain, settings) = try place(Words.noServer)
            return AccountRegistration(at: domain, server: settings)
        }
        guard invitation.makesAccount else {
            let (domain, settings) = try place(Words.serverOfChoice)
            return AccountRegistration(invitation, at: domain, server: settings)
        }
        guard !word(server).isEmpty else { return AccountRegistration(invitation) }
        let named = HostAndPort(word(server)) ?? HostAndPort("\(word(server)):5222")
        guard let named else { throw LoginForm.Problem(words: Words.badServer) }
        return AccountRegistration(invitation, server: ServerSettings(override: named))
    }

    /// The domain, and how it is reached.
    private func place(_ missing: String) throws(LoginForm.Problem) -> (String, ServerSettings) {
        let text = word(server)
        guard !text.isEmpty else { throw LoginForm.Problem(words: missing) }
        let named = HostAndPort(text)
        guard let domain = try? JID(named?.host ?? text), domain.local == nil, domain.resource == nil else {
            throw LoginForm.Problem(words: Words.badServerName)
        }
        return (domain.domain, ServerSettings(override: named))
    }
}
