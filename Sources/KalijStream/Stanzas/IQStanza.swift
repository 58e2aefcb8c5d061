import KalijAddress
import KalijXML

/// A request or the answer to a request (RFC 6120, 8.2.3): a view over the element.
public struct IQStanza: Stanza {
    /// The kind of an iq (RFC 6120, 8.2.3).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Asks for information; is to be answered.
        case get
        /// Gives information or asks for a change; is to be answered.
        case set
        /// The answer to a successful request.
        case result
        /// The answer to a failed request.
        case error

        /// Whether an answer is needed: a result or an error.
        public var isRequest: Bool { self == .get || self == .set }
    }

    public let element: Element

    /// A view of an element.
    ///
    /// - Throws: `StanzaFormatError` if the element is no iq, or breaks the rules of RFC 6120, 8.2.3: an iq has an id
    ///   and one of the four types, a request has exactly one payload, a result at most one.
    public init(_ element: Element) throws(StanzaFormatError) {
        try element.requireStanza("iq")
        guard let type = element["type"], let kind = Kind(rawValue: type) else {
            throw .unknownType(stanza: "iq", type: element["type"])
        }
        guard element["id"] != nil else { throw .missingID }
        let count = element.children.count
        if kind != .error, count > 1 || (count == 0 && kind.isRequest) { throw .payloadCount(count, type: type) }
        self.element = element
    }

    /// Makes a request in a new tree.
    ///
    /// - Parameters:
    ///   - kind: `.get` or `.set`.
    ///   - payload: the question, copied in.
    ///   - recipient: the recipient; nil for the account's own server.
    ///   - id: the id of the later answer.
    ///   - namespace: the namespace of the stream, `jabber:client` or the namespace of servers or components.
    public init(
        _ kind: Kind, _ payload: Element, to recipient: JID? = nil, id: String, namespace: String = "jabber:client"
    ) {
        element = Element("iq", xmlns: namespace, attributes: ["id": id], children: [payload])
        self.kind = kind
        self.to = recipient
    }

    /// The kind; ``Kind/error``, never answered, if the type was changed to an unknown type.
    public var kind: Kind {
        get { element["type"].flatMap(Kind.init(rawValue:)) ?? .error }
        nonmutating set { element["type"] = newValue.rawValue }
    }

    /// The question or answer, as a reference: the child element. In an error, the request's payload if sent along; an
    /// `<error/>` is no payload.
    public var payload: Element? {
        element.children.first { kind != .error || !($0.isNamed("error") && $0.namespace == element.namespace) }
    }

    /// The answer for a successful request: addresses swapped, the id kept.
    ///
    /// - Parameter payload: the answer's content, copied in.
    /// - Returns: a new tree in the same namespace; nil if this iq is no request.
    public func result(_ payload: Element? = nil) -> Element? {
        guard kind.isRequest else { return nil }
        let answer = answer(type: Kind.result.rawValue)
        if let payload { answer.add(payload) }
        return answer
    }
}
