import KalijStream
import KalijXML

/// The outcome of a request: the input of the waiting handler.
public enum IQReply {
    /// The responder fulfilled the request; the whole `<iq/>`.
    case result(Element)
    /// The responder, or a server in between, refused (RFC 6120 8.3); the whole `<iq/>`.
    case error(StanzaError, Element)
    /// No response arrived until the deadline. It is unknown whether the request arrived.
    case timeout

    /// Reads an `<iq/>` of type result or error.
    package init(_ iq: Element) {
        self = iq["type"] == "result" ? .result(iq) : .error(StanzaError(iq) ?? StanzaError(.undefinedCondition), iq)
    }

    /// The answer, a result or an error; nil if there was none.
    public var iq: Element? {
        switch self {
        case .result(let iq), .error(_, let iq): iq
        case .timeout: nil
        }
    }
}
