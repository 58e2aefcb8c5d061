import KalijAddress
import KalijXML

/// What messages, presences and iqs have in common (RFC 6120, 8.1): a typed view over an element.
///
/// A view holds a reference: changing it changes the element, and the tree that the element is part of.
///
/// ```swift
/// let message = try MessageStanza(element)
/// if message.kind == .chat, let body = message.body { show(body, from: message.from) }
/// ```
public protocol Stanza: Equatable, CustomStringConvertible {
    /// The element that this is a view of.
    var element: Element { get }

    /// A view of an element.
    ///
    /// - Parameter element: the stanza, in `jabber:client`, `jabber:server` or `jabber:component:accept`.
    /// - Throws: `StanzaFormatError` if it is another element, or no valid stanza of this kind.
    init(_ element: Element) throws(StanzaFormatError)
}

extension Stanza {
    /// Whom it is for (RFC 6120, 8.1.1); nil if the stanza does not say. An address that cannot be prepared is kept as
    /// it is, see `JID.isPrepared`.
    public var to: JID? {
        get { element["to"].map(JID.received) }
        nonmutating set { element["to"] = newValue?.description }
    }

    /// Who sent it (RFC 6120, 8.1.2); nil if the stanza does not say: then it is from the account itself.
    public var from: JID? {
        get { element["from"].map(JID.received) }
        nonmutating set { element["from"] = newValue?.description }
    }

    /// What the sender knows it by (RFC 6120, 8.1.3).
    public var id: String? {
        get { element["id"] }
        nonmutating set { element["id"] = newValue }
    }

    /// The language of its text, where the text names none (RFC 6120, 8.1.5); nil if that of the stream is meant.
    public var language: String? {
        get { element["xml:lang"] }
        nonmutating set { element["xml:lang"] = newValue }
    }

    /// The error that it reports; nil if its type is not "error".
    public var error: StanzaError? { StanzaError(element) }

    /// An application's own condition beside the standard's in `<error/>` (RFC 6120, 8.3.4); nil if there is none.
    public var applicationCondition: Element? {
        element.child("error")?.children.first { $0.namespace != Namespace.stanzaErrors }
    }

    /// The answer that says what is wrong with this stanza: addresses swapped, the id kept, its payload left out
    /// (RFC 6120, 8.3.1).
    ///
    /// - Parameters:
    ///   - error: what is wrong.
    ///   - application: an application's own condition, copied in.
    /// - Returns: a new tree in the same namespace; nil for what must not be answered with an error: errors, and
    ///   results of requests.
    public func failure(_ error: StanzaError, application: Element? = nil) -> Element? {
        let type = element["type"]
        guard type != "error", type != "result" else { return nil }
        let answer = answer(type: "error")
        let added = answer.add(error.element(in: element.namespace))
        if let application { added.add(application) }
        return answer
    }

    /// A stanza of the same name back to the sender, with the same id and nothing in it.
    func answer(type: String) -> Element {
        let answer = Element(element.name, xmlns: element.namespace, attributes: ["type": type])
        answer["to"] = element["from"]
        answer["from"] = element["to"]
        answer["id"] = element["id"]
        return answer
    }

    /// The stanza as canonical XML.
    public var description: String { element.description }
}

extension Element {
    /// Checks that this is a stanza of that name.
    func requireStanza(_ name: String) throws(StanzaFormatError) {
        guard isNamed(name), Namespace.ofStanzas.contains(where: { isNamed(name, $0) }) else {
            throw .notThisStanza(name, found: self.name, namespace: namespace)
        }
    }
}
