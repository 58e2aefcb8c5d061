import KalijAddress
import KalijFeatures

/// An invitation as a link: to make an account (XEP-0445), to become somebody's contact (XEP-0379), or both (XEP-0401).
public struct InvitationLink: Sendable, Equatable {
    /// The server at which the account is to be made, or the inviter's server.
    public let domain: String
    /// The address that is reserved for the new account; nil if its user name can be chosen.
    public let account: JID?
    /// The bare address of the inviter; nil if the invitation is a server's.
    public let inviter: JID?
    /// The inviter's name as the link has it: a claim. Nil if there is none.
    public let inviterName: String?
    /// The token that the server or the inviter recognizes; nil if there is none.
    public let token: String?
    /// Whether the token permits an account at ``domain``.
    public let makesAccount: Bool

    /// - Returns: nil if the link is no invitation.
    public init?(_ uri: XMPPURI) {
        (domain, token) = (uri.jid.domain, uri.parameters["preauth"])
        let jid = uri.jid.local == nil ? nil : uri.jid.bare
        switch uri.action {
        case "register":
            (account, inviter, inviterName, makesAccount) = (jid, nil, nil, true)
        case "roster", "subscribe":
            guard let jid else { return nil }
            (account, inviter, inviterName) = (nil, jid, uri.parameters["name"])
            makesAccount = uri.parameters["ibr"] == "y"
        default: return nil
        }
    }

    /// - Parameter link: a text that may be a link of the scheme `xmpp`.
    /// - Returns: nil if the text is no invitation.
    public init?(_ link: String) {
        guard let uri = XMPPURI(link) else { return nil }
        self.init(uri)
    }

    /// The change that makes the inviter a contact; nil without an inviter.
    public var contact: AddContact? {
        guard let inviter else { return nil }
        let contact = AddContact(inviter, name: inviterName, preauth: token)
        // The name or the token of a link may be unusable.
        return (try? contact.check()) == nil ? AddContact(inviter) : contact
    }
}
