import KalijAddress
import KalijText
import KalijXML

/// An error in response to a stanza (RFC 6120, 8.3); the stream continues.
public struct StanzaError: Error, Hashable, Sendable {
    /// The type of the error: the reaction that the sender should take (RFC 6120, 8.3.2).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Retry after providing credentials.
        case auth
        /// Do not retry.
        case cancel
        /// Proceed: only a warning.
        case `continue`
        /// Retry after changing the stanza.
        case modify
        /// Retry after waiting.
        case wait
    }

    /// The conditions of RFC 6120, 8.3.3.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        /// The stanza does not conform to the standard (8.3.3.1).
        case badRequest = "bad-request"
        /// An entity with this name or address exists already (8.3.3.2).
        case conflict
        /// The recipient does not support the request (8.3.3.3).
        case featureNotImplemented = "feature-not-implemented"
        /// The sender lacks the permission (8.3.3.4).
        case forbidden
        /// The recipient no longer has this address; the error may specify the new one (8.3.3.5).
        case gone
        /// The server has failed (8.3.3.6).
        case internalServerError = "internal-server-error"
        /// The item or address does not exist (8.3.3.7).
        case itemNotFound = "item-not-found"
        /// An address is malformed (8.3.3.8).
        case jidMalformed = "jid-malformed"
        /// The request does not meet the recipient's criteria (8.3.3.9).
        case notAcceptable = "not-acceptable"
        /// No entity may do this (8.3.3.10).
        case notAllowed = "not-allowed"
        /// The sender has to provide credentials first (8.3.3.11).
        case notAuthorized = "not-authorized"
        /// The stanza violates a local policy, such as a limit on its size (8.3.3.12).
        case policyViolation = "policy-violation"
        /// The recipient is temporarily unavailable (8.3.3.13).
        case recipientUnavailable = "recipient-unavailable"
        /// The request is to be sent to another address, which the error specifies (8.3.3.14).
        case redirect
        /// The sender has to register first (8.3.3.15).
        case registrationRequired = "registration-required"
        /// The recipient's domain has no server, or the server cannot be found (8.3.3.16).
        case remoteServerNotFound = "remote-server-not-found"
        /// The recipient's server does not respond (8.3.3.17).
        case remoteServerTimeout = "remote-server-timeout"
        /// The recipient or server is too busy (8.3.3.18).
        case resourceConstraint = "resource-constraint"
        /// The recipient does not offer the service, or is unavailable (8.3.3.19).
        case serviceUnavailable = "service-unavailable"
        /// The sender has to subscribe first (8.3.3.20).
        case subscriptionRequired = "subscription-required"
        /// None of the others; an application-specific condition may follow (8.3.3.21).
        case undefinedCondition = "undefined-condition"
        /// The request was not expected at this time (8.3.3.22).
        case unexpectedRequest = "unexpected-request"

        /// The type that RFC 6120, 8.3.3 recommends for the condition.
        public var usualKind: Kind {
            switch self {
            case .badRequest, .jidMalformed, .notAcceptable, .policyViolation, .redirect: .modify
            case .forbidden, .notAuthorized, .registrationRequired, .subscriptionRequired: .auth
            case .recipientUnavailable, .remoteServerTimeout, .resourceConstraint, .unexpectedRequest: .wait
            case .conflict, .featureNotImplemented, .gone, .internalServerError, .itemNotFound, .notAllowed,
                .remoteServerNotFound, .serviceUnavailable, .undefinedCondition:
                .cancel
            }
        }
    }

    /// The type; `.cancel` if the peer has not specified it.
    public let kind: Kind
    /// The condition; `.undefinedCondition` if the peer has specified no condition of the standard.
    public let condition: Condition
    /// The peer's text for people.
    public let text: String?
    /// The language of the text (RFC 6120, 8.3.2); nil if the peer has not specified it.
    public let language: String?
    /// The entity that has detected the error, if not the stanza's recipient.
    public let by: JID?
    /// The URI in `<gone/>` or `<redirect/>`.
    public let newAddress: String?
    /// The name of an application-specific condition (RFC 6120, 8.3.4).
    public let application: String?

    /// Creates an error; without a kind, with the usual kind of the condition.
    public init(
        _ condition: Condition, kind: Kind? = nil, text: String? = nil, language: String? = nil, by: JID? = nil,
        newAddress: String? = nil, application: String? = nil
    ) {
        self.kind = kind ?? condition.usualKind
        self.condition = condition
        self.text = text
        self.language = language
        self.by = by
        self.newAddress = newAddress
        self.application = application
    }

    /// Parses the `<error/>` of a stanza, or a stanza of type "error"; nil for another element.
    public init?(_ element: Element) {
        let namespace = element.namespace
        guard let namespace, Namespace.ofStanzas.contains(namespace) else { return nil }
        if element.isNamed("error") {
            self.init(error: element)
        } else if element["type"] == "error", Element.stanzaNames.contains(element.name) {
            guard let error = element.child("error", namespace) else {
                self.init(.undefinedCondition)
                return
            }
            self.init(error: error)
        } else {
            return nil
        }
    }

    /// Parses `<error/>` in any namespace: Bind 2 uses its own.
    init(error: Element) {
        var condition: Condition?
        var newAddress: String?
        var application: String?
        for child in error.children {
            if child.namespace != Namespace.stanzaErrors {
                application = application ?? child.name
            } else if condition == nil, let known = Condition(rawValue: child.name) {
                condition = known
                if known == .gone || known == .redirect, !child.text.isEmpty { newAddress = child.text }
            }
        }
        let text = ErrorText.of(error, Namespace.stanzaErrors)
        self.init(
            condition ?? .undefinedCondition, kind: error["type"].flatMap(Kind.init(rawValue:)) ?? .cancel,
            text: text, language: text.flatMap { _ in error.child("text", Namespace.stanzaErrors)?["xml:lang"] },
            by: error["by"].map(JID.received),
            newAddress: newAddress, application: application)
    }

    /// The `<error/>` element, without an application-specific condition.
    public var element: Element { element(in: Namespace.client) }

    /// The `<error/>` element in the namespace of its stanza.
    func element(in namespace: String?) -> Element {
        let error = Element("error", xmlns: namespace, attributes: ["type": kind.rawValue])
        if let by { error["by"] = "\(by)" }
        error.add(Element(condition.rawValue, xmlns: Namespace.stanzaErrors, text: newAddress ?? ""))
        if let text {
            let words = error.add(Element("text", xmlns: Namespace.stanzaErrors, text: text))
            words["xml:lang"] = language
        }
        return error
    }

    /// The error as a response to a stanza, without its payload.
    ///
    /// - Parameter stanza: an iq of type get or set, a message or a presence.
    /// - Returns: the response; nil for stanzas that must not cause an error: errors and results (RFC 6120, 8.3.1).
    public func reply(to stanza: Element) -> Element? {
        let type = stanza["type"]
        guard stanza.isStanza, type != "error", type != "result" else { return nil }
        var attributes = ["type": "error"]
        if let sender = stanza["from"] { attributes["to"] = sender }
        if let id = stanza["id"] { attributes["id"] = id }
        return Element(stanza.name, xmlns: Namespace.client, attributes: attributes, children: [element])
    }
}

extension StanzaError: CustomStringConvertible {
    public var description: String {
        let detail = application.map { ", \($0.cut(to: 60))" } ?? ""
        return "\(condition.rawValue) (\(kind.rawValue))\(detail)\(ErrorText.suffix(text))"
    }
}
