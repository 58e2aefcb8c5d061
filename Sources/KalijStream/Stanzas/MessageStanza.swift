import KalijAddress
import KalijXML

/// A message (RFC 6121, 5.2): a view over the element.
public struct MessageStanza: Stanza {
    /// The kind of a message's conversation (RFC 6121, 5.2.2).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A conversation of two.
        case chat
        /// The answer to a message that could not be delivered or understood.
        case error
        /// A room.
        case groupchat
        /// News, without an expected answer.
        case headline
        /// Outside of any conversation; an answer is expected.
        case normal

        /// The meaning of a message's attribute `type`: ``normal`` for no type, or for an unknown type.
        public init(type: String?) { self = type.flatMap(Kind.init(rawValue:)) ?? .normal }
    }

    /// The identity of a conversation (RFC 6121, 5.2.5).
    public struct Thread: Hashable, Sendable {
        /// The id given by the first message of the conversation.
        public var id: String
        /// The id of the conversation from which this conversation split off; nil if there is none.
        public var parent: String?

        /// A conversation.
        public init(id: String, parent: String? = nil) { (self.id, self.parent) = (id, parent) }
    }

    public let element: Element

    public init(_ element: Element) throws(StanzaFormatError) {
        try element.requireStanza("message")
        self.element = element
    }

    /// Makes a message in a new tree.
    ///
    /// - Parameters:
    ///   - kind: the kind of the conversation.
    ///   - recipient: the recipient; nil for the account itself.
    ///   - id: the sender's id for the message.
    ///   - body: the text, in the language of the stream.
    ///   - namespace: the namespace of the stream, `jabber:client` or the namespace of servers or components.
    public init(
        _ kind: Kind = .normal, to recipient: JID? = nil, id: String? = nil, body: String? = nil,
        namespace: String = "jabber:client"
    ) {
        element = Element("message", xmlns: namespace)
        self.kind = kind
        self.to = recipient
        self.id = id
        self.body = body
    }

    /// The kind of the conversation: ``Kind/normal`` for no type or an unknown type, as RFC 6121, 5.2.2, asks.
    public var kind: Kind {
        get { Kind(type: element["type"]) }
        nonmutating set { element["type"] = newValue == .normal ? nil : newValue.rawValue }
    }

    /// The text, in the language of the stanza or else the first; nil if there is none. Setting the body replaces the
    /// texts in all languages.
    public var body: String? {
        get { bodies.standard }
        nonmutating set { bodies.replace(with: newValue) }
    }

    /// The text in each of its languages.
    public var bodies: LocalizedTexts { LocalizedTexts(stanza: element, name: "body") }

    /// The subject, like ``body`` (RFC 6121, 5.2.4). In a room, a subject without a body changes the room's subject; an
    /// empty subject removes it, so "" and nil differ.
    public var subject: String? {
        get { subjects.standard }
        nonmutating set { subjects.replace(with: newValue) }
    }

    /// The subject in each of its languages.
    public var subjects: LocalizedTexts { LocalizedTexts(stanza: element, name: "subject") }

    /// The conversation of the message; nil if the message does not say.
    public var thread: Thread? {
        get { element.child("thread").map { Thread(id: $0.text, parent: $0["parent"]) } }
        nonmutating set {
            element.child("thread")?.remove()
            guard let newValue else { return }
            let thread = element.add(Element("thread", text: newValue.id))
            thread["parent"] = newValue.parent
        }
    }
}
