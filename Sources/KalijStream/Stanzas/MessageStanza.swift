import KalijAddress
import KalijXML

/// A message (RFC 6121, 5.2): a view over the element.
public struct MessageStanza: Stanza {
    /// What kind of conversation it belongs to (RFC 6121, 5.2.2).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A conversation of two.
        case chat
        /// The answer to a message that could not be delivered or understood.
        case error
        /// A room.
        case groupchat
        /// News, to which no answer is expected.
        case headline
        /// Outside of any conversation; an answer is expected.
        case normal

        /// What the attribute `type` of a message means: ``normal`` without one, or with an unknown one.
        public init(type: String?) { self = type.flatMap(Kind.init(rawValue:)) ?? .normal }
    }

    /// What a conversation is identified by (RFC 6121, 5.2.5).
    public struct Thread: Hashable, Sendable {
        /// The id that the first message of the conversation gave it.
        public var id: String
        /// The id of the conversation that it came out of; nil if there is none.
        public var parent: String?

        /// A conversation.
        public init(id: String, parent: String? = nil) { (self.id, self.parent) = (id, parent) }
    }

    public let element: Element

    public init(_ element: Element) throws(StanzaFormatError) {
        try element.requireStanza("message")
        self.element = element
    }

    /// A new message in a tree of its own.
    ///
    /// - Parameters:
    ///   - kind: what kind of conversation it belongs to.
    ///   - recipient: whom it is for; nil for the account itself.
    ///   - id: what the sender knows it by.
    ///   - body: its text, in the language of the stream.
    ///   - namespace: that of the stream, `jabber:client` or that of servers or components.
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

    /// What kind of conversation it belongs to: ``Kind/normal`` if it has no type or an unknown one, as RFC 6121,
    /// 5.2.2, asks.
    public var kind: Kind {
        get { Kind(type: element["type"]) }
        nonmutating set { element["type"] = newValue == .normal ? nil : newValue.rawValue }
    }

    /// The text, in the language of the stanza or else the first; nil if there is none. Setting it replaces the texts
    /// in all languages.
    public var body: String? {
        get { bodies.standard }
        nonmutating set { bodies.replace(with: newValue) }
    }

    /// The text in each of its languages.
    public var bodies: LocalizedTexts { LocalizedTexts(stanza: element, name: "body") }

    /// The subject, as ``body`` (RFC 6121, 5.2.4). In a room, a subject without a body changes the room's; an empty one
    /// removes it, so that "" and nil differ.
    public var subject: String? {
        get { subjects.standard }
        nonmutating set { subjects.replace(with: newValue) }
    }

    /// The subject in each of its languages.
    public var subjects: LocalizedTexts { LocalizedTexts(stanza: element, name: "subject") }

    /// The conversation that it belongs to; nil if it does not say.
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
