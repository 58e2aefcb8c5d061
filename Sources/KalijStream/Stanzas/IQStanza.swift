import KalijAddress
import KalijXML

/// A request or the answer to one (RFC 6120, 8.2.3): a view over the element.
public struct IQStanza: Stanza {
    /// What it is (RFC 6120, 8.2.3).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Asks for information; is to be answered.
        case get
        /// Gives information or asks for a change; is to be answered.
        case set
        /// The answer to a request that succeeded.
        case result
        /// The answer to a request that failed.
        case error

        /// Whether it has to be answered, with a result or an error.
        public var isRequest: Bool { self == .get || self == .set }
    }

    public let element: Element

    /// A view of an element.
    ///
    /// - Throws: `StanzaFormatError` if it is no iq, or against the rules of RFC 6120, 8.2.3: it has an id and one of
    ///   the four types, a request has exactly one payload, a result at most one.
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

    /// A new request in a tree of its own.
    ///
    /// - Parameters:
    ///   - kind: `.get` or `.set`.
    ///   - payload: what is asked, copied in.
    ///   - recipient: whom; nil for the account's own server.
    ///   - id: what its answer will be known by.
    ///   - namespace: that of the stream, `jabber:client` or that of servers or components.
    public init(
        _ kind: Kind, _ payload: Element, to recipient: JID? = nil, id: String, namespace: String = "jabber:client"
    ) {
        element = Element("iq", xmlns: namespace, attributes: ["id": id], children: [payload])
        self.kind = kind
        self.to = recipient
    }

    /// What it is; ``Kind/error``, which nothing answers, if the type was changed to an unknown one.
    public var kind: Kind {
        get { element["type"].flatMap(Kind.init(rawValue:)) ?? .error }
        nonmutating set { element["type"] = newValue.rawValue }
    }

    /// What is asked or answered, as a reference: the child element. Of an error, the request's if it is sent along; an
    /// `<error/>` is no payload.
    public var payload: Element? {
        element.children.first { kind != .error || !($0.isNamed("error") && $0.namespace == element.namespace) }
    }

    /// The answer that the request succeeded: addresses swapped, the id kept.
    ///
    /// - Parameter payload: what is answered, copied in.
    /// - Returns: a new tree in the same namespace; nil if this is no request.
    public func result(_ payload: Element? = nil) -> Element? {
        guard kind.isRequest else { return nil }
        let answer = answer(type: Kind.result.rawValue)
        if let payload { answer.add(payload) }
        return answer
    }
}
