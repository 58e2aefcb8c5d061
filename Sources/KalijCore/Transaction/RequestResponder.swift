import KalijStream
import KalijXML

/// A feature that answers requests (RFC 6120 section 8.2.3).
public protocol RequestResponder: Feature {
    /// A request was received, from an entity that is authorized to see that the account is online.
    /// - Returns: the response; nil if the request is not for this feature.
    static func respond(to request: Element, in step: Step) throws -> RequestAnswer?
}

/// The response to a request (RFC 6120 8.2.3).
public enum RequestAnswer {
    /// With or without content.
    case result(Element?)
    /// An error with this condition (RFC 6120 8.3.3).
    case error(StanzaError.Condition)
}
