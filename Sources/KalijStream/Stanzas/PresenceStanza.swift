import KalijAddress
import KalijXML

/// A presence (RFC 6121, 4.7): a view over the element.
public struct PresenceStanza: Stanza {
    /// The meaning of a presence (RFC 6121, 4.7.1).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The sender is there: a presence without a type.
        case available = ""
        /// The answer to a presence that could not be delivered or understood.
        case error
        /// A server asks for the presence of a contact.
        case probe
        /// The sender wants to see the recipient's presence.
        case subscribe
        /// The sender has allowed the recipient to see its presence.
        case subscribed
        /// The sender is no longer there.
        case unavailable
        /// The sender does not want to see the recipient's presence any longer.
        case unsubscribe
        /// The recipient may not, or no longer, see the sender's presence.
        case unsubscribed
    }

    /// How available someone is (RFC 6121, 4.7.2.1).
    public enum Show: String, Hashable, Sendable, CaseIterable {
        /// Away for a while.
        case away
        /// Wants to chat.
        case chat
        /// Is not to be disturbed.
        case doNotDisturb = "dnd"
        /// Away for longer.
        case extendedAway = "xa"
    }

    public let element: Element

    /// A view of an element.
    ///
    /// - Throws: `StanzaFormatError` if the element is no presence, or has a type unknown to the standard; such a
    ///   presence is to be answered with `bad-request` (RFC 6121, 4.7.1).
    public init(_ element: Element) throws(StanzaFormatError) {
        try element.requireStanza("presence")
        if let type = element["type"], type.isEmpty || Kind(rawValue: type) == nil {
            throw .unknownType(stanza: "presence", type: type)
        }
        self.element = element
    }

    /// Makes a presence in a new tree.
    ///
    /// - Parameters:
    ///   - kind: the meaning.
    ///   - recipient: the recipient; nil for all who may see the account's presence.
    ///   - namespace: the namespace of the stream, `jabber:client` or the namespace of servers or components.
    public init(_ kind: Kind = .available, to recipient: JID? = nil, namespace: String = "jabber:client") {
        element = Element("presence", xmlns: namespace)
        self.kind = kind
        self.to = recipient
    }

    /// The meaning; ``Kind/error``, never answered, if the type was changed to an unknown type.
    public var kind: Kind {
        get { Kind(rawValue: element["type"] ?? "") ?? .error }
        nonmutating set { element["type"] = newValue == .available ? nil : newValue.rawValue }
    }

    /// How available the sender is; nil if the sender is only there, or for an unknown value.
    public var show: Show? {
        get { (element.child("show")?.text).flatMap(Show.init(rawValue:)) }
        nonmutating set { set("show", newValue?.rawValue) }
    }

    /// A description for people, in the language of the stanza or else the first (RFC 6121, 4.7.2.2). Setting the
    /// status replaces the descriptions in all languages.
    public var status: String? {
        get { statuses.standard }
        nonmutating set { statuses.replace(with: newValue) }
    }

    /// The description in each of its languages.
    public var statuses: LocalizedTexts { LocalizedTexts(stanza: element, name: "status") }

    /// The priority of the resource, from -128 to 127 (RFC 6121, 4.7.2.3): 0 if missing or not such a number. Messages
    /// for the bare address do not go to a resource with a negative priority.
    public var priority: Int8 {
        get { (element.findFirst("priority#|int") as Int?).flatMap(Int8.init(exactly:)) ?? 0 }
        nonmutating set { set("priority", newValue == 0 ? nil : String(newValue)) }
    }

    private func set(_ name: String, _ text: String?) {
        let known = element.child(name)
        guard let text else {
            known?.remove()
            return
        }
        if let known { known.setText(text) } else { element.add(Element(name, text: text)) }
    }
}
