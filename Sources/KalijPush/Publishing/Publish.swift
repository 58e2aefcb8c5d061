/// The addressee of an answer: the parts of an iq that its answer repeats.
public struct Requester: Sendable, Hashable {
    /// The iq's id, unchanged.
    public var id: String
    /// The requester's address.
    public var from: String
    /// The component's address to which the request was sent.
    public var to: String

    public init(id: String, from: String, to: String) {
        self.id = id
        self.from = from
        self.to = to
    }
}

/// A push requested by an XMPP server (XEP-0357, 7).
public struct Publish: Sendable, Hashable {
    public var requester: Requester
    /// The domain of the sending server.
    public var domain: String
    /// The device's token: the pubsub node.
    public var token: String
    /// The name of the push module; nil for the default module.
    public var module: String?
    /// Whether the publish holds the body of a message.
    public var isImportant: Bool

    public init(requester: Requester, domain: String, token: String, module: String? = nil, isImportant: Bool = false) {
        self.requester = requester
        self.domain = domain
        self.token = token
        self.module = module
        self.isImportant = isImportant
    }
}

/// The meaning of a stanza to the component.
public enum Inbound: Sendable, Equatable {
    case publish(Publish)
    /// A publish that a server has made wrong, with the reason.
    case malformed(Requester, domain: String, reason: String)
    /// A publish that is unusable because of a user, and not because of the server: the node, or a stanza of the user's own.
    case unusable(Requester, reason: String)
    /// disco#info for the component itself (XEP-0030).
    case discovery(Requester)
    /// XEP-0199.
    case ping(Requester)
    /// Another get or set.
    case unsupported(Requester)
    /// Not to be answered: results, errors, messages, presence.
    case ignored
}
