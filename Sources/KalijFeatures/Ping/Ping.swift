import KalijCore
import KalijAddress
import KalijHandlers
import KalijXML

/// Sends pings, and responds to them (XEP-0199).
enum PingFeature: Feature, RequestResponder {
    package static let name = "ping"

    static var announced: [String] { ["urn:xmpp:ping"] }

    package static func respond(to request: Element, in step: Step) throws -> RequestAnswer? {
        request["type"] == "get" && request.child("ping", "urn:xmpp:ping") != nil ? .result(nil) : nil
    }
}

extension Step {
    /// Pings an entity (XEP-0199). In the handler's step, ``roundTrip`` is the duration.
    ///
    /// An error may be a valid response, too: an entity without support for pings responds with `service-unavailable` or
    /// `feature-not-implemented`. But the server of a missing entity sends the same errors.
    /// - Parameters:
    ///   - recipient: the entity; nil for the account itself, that is, the server on its behalf.
    ///   - handler: receives the outcome.
    ///   - duration: the timeout for the response.
    /// - Returns: the id of the request.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    @discardableResult
    public func ping<H: Handler>(
        _ recipient: JID? = nil, then handler: H, within duration: Duration = .seconds(30)
    ) throws -> String where H.Context == Step, H.Input == IQReply {
        try send(.ping(recipient), then: handler, within: duration)
    }
}

extension Element {
    /// The `<iq/>` of a ping (XEP-0199).
    /// - Parameter recipient: the entity; nil for the account itself.
    public static func ping(_ recipient: JID?) -> Element {
        .request(.get, Element("ping", xmlns: "urn:xmpp:ping"), to: recipient)
    }
}
