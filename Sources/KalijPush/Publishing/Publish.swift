/// Whom to answer: the parts of an iq that its answer repeats.
public struct Requester: Sendable, Hashable {
    /// The iq's id, as it is.
    public var id: String
    /// Who asked.
    public var from: String
    /// Which of our addresses was asked.
    public var to: String

    public init(id: String, from: String, to: String) {
        self.id = id
        self.from = from
        self.to = to
    }
}

/// What an XMPP server wants to be pushed (XEP-0357, 7).
public struct Publish: Sendable, Hashable {
    public var requester: Requester
    /// The domain of the server that sent it.
    public var domain: String
    /// The device's token: the pubsub node.
    public var token: String
    /// The push module it names; nil for the default one.
    public var module: String?
    /// Whether it holds the body of a message.
    public var isImportant: Bool

    public init(requester: Requester, domain: String, token: String, module: String? = nil, isImportant: Bool = false) {
        self.requester = requester
        self.domain = domain
        self.token = token
        self.module = module
        self.isImportant = isImportant
    }
}

/// What a stanza to the component is.
public enum Inbound: Sendable, Equatable {
    case publish(Publish)
    /// A publish that is none; what is wrong with it.
    case malformed(Requester, domain: String, reason: String)
    /// disco#info for the component itself (XEP-0030).
    case discovery(Requester)
    /// XEP-0199.
    case ping(Requester)
    /// Another get or set.
    case unsupported(Requester)
    /// Nothing that is to be answered: results, errors, messages, presence.
    case ignored
}
