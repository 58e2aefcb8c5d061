import KalijAddress
import KalijXML

/// The common parts of messages, presences and iqs (RFC 6120, 8.1): a typed view over an element.
///
/// A view holds a reference: changing the view changes the element, and the element's tree.
///
/// ```swift
/// let message = try MessageStanza(element)
/// if message.kind == .chat, let body = message.body { show(body, from: message.from) }
/// ```
public protocol Stanza: Equatable, CustomStringConvertible {
    /// The viewed element.
    var element: Element { get }

    /// A view of an element.
    ///
    /// - Parameter element: the stanza, in `jabber:client`, `jabber:server` or `jabber:component:accept`.
    /// - Throws: `StanzaFormatError` for another element, or for an invalid stanza of this kind.
    init(_ element: Element) throws(StanzaFormatError)
}

extension Stanza {
    /// The recipient (RFC 6120, 8.1.1); nil if the stanza does not say. An address that cannot be prepared is kept
    /// unchanged, see `JID.isPrepared`.
    public var to: JID? {
        get { element["to"].map(JID.received) }
        nonmutating set { element["to"] = newValue?.description }
    }

    /// The sender (RFC 6120, 8.1.2); nil if the stanza does not say: then the account itself is the sender.
    public var from: JID? {
        get { element["from"].map(JID.received) }
        nonmutating set { element["from"] = newValue?.description }
    }

    /// The sender's id for the stanza (RFC 6120, 8.1.3).
    public var id: String? {
        get { element["id"] }
        nonmutating set { element["id"] = newValue }
    }

    /// The language of texts without a language of their own (RFC 6120, 8.1.5); nil for the stream's language.
    public var language: String? {
        get { element["xml:lang"] }
        nonmutating set { element["xml:lang"] = newValue }
    }

    /// The reported error; nil if the type is not "error".
    public var error: StanzaError? { StanzaError(element) }

    /// An application's own condition beside the standard's in `<error/>` (RFC 6120, 8.3.4); nil if there is none.
    public var applicationCondition: Element? {
        element.child("error")?.children.first { $0.namespace != Namespace.stanzaErrors }
    }

    /// The answer that reports an error in this stanza: addresses swapped, the id kept, the payload left out (RFC 6120,
    /// 8.3.1).
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - application: an application's own condition, copied in.
    /// - Returns: a new tree in the same namespace; nil for stanzas that must not be answered with an error: errors,
    ///   and results of requests.
    public func failure(_ error: StanzaError, application: Element? = nil) -> Element? {
        let type = element["type"]
        guard type != "error", type != "result" else { return nil }
        let answer = answer(type: "error")
        let added = answer.add(error.element(in: element.namespace))
        if let application { added.add(application) }
        return answer
    }

    /// An empty stanza of the same name back to the sender, with the same id.
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
    /// Checks that the element is a stanza of this name.
    func requireStanza(_ name: String) throws(StanzaFormatError) {
        guard isNamed(name), Namespace.ofStanzas.contains(where: { isNamed(name, $0) }) else {
            throw .notThisStanza(name, found: self.name, namespace: namespace)
        }
    }
}
