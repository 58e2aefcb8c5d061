import KalijStream
import KalijXML

/// What becomes of a request: the input of the handler that waits for it.
public enum IQReply {
    /// The responder did what was asked; the whole `<iq/>`.
    case result(Element)
    /// The responder, or a server on the way, refused (RFC 6120 8.3); the whole `<iq/>`.
    case error(StanzaError, Element)
    /// Nobody answered until the deadline. Whether the request arrived is not known.
    case timeout

    /// Reads an `<iq/>` of type result or error.
    package init(_ iq: Element) {
        self = iq["type"] == "result" ? .result(iq) : .error(StanzaError(iq) ?? StanzaError(.undefinedCondition), iq)
    }

    /// The answer, whichever it is; nil if there was none.
    public var iq: Element? {
        switch self {
        case .result(let iq), .error(_, let iq): iq
        case .timeout: nil
        }
    }
}
