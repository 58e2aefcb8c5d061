import KalijAddress
import KalijXML

/// An error in answer to a stanza (RFC 6120, 8.3); the stream goes on.
public struct StanzaError: Error, Hashable, Sendable {
    /// The sender's possible reaction (RFC 6120, 8.3.2).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Try again after providing credentials.
        case auth
        /// Do not try again.
        case cancel
        /// Go on: only a warning.
        case `continue`
        /// Try again after changing the stanza.
        case modify
        /// Try again after a while.
        case wait
    }

    /// The conditions of RFC 6120, 8.3.3.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        case badRequest = "bad-request"
        case conflict
        case featureNotImplemented = "feature-not-implemented"
        case forbidden
        case gone
        case internalServerError = "internal-server-error"
        case itemNotFound = "item-not-found"
        case jidMalformed = "jid-malformed"
        case notAcceptable = "not-acceptable"
        case notAllowed = "not-allowed"
        case notAuthorized = "not-authorized"
        case policyViolation = "policy-violation"
        case recipientUnavailable = "recipient-unavailable"
        case redirect
        case registrationRequired = "registration-required"
        case remoteServerNotFound = "remote-server-not-found"
        case remoteServerTimeout = "remote-server-timeout"
        case resourceConstraint = "resource-constraint"
        case serviceUnavailable = "service-unavailable"
        case subscriptionRequired = "subscription-required"
        case undefinedCondition = "undefined-condition"
        case unexpectedRequest = "unexpected-request"

        /// The type recommended for the condition by RFC 6120, 8.3.3.
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

    /// The possible reaction; `.cancel` if the peer does not say.
    public let kind: Kind
    /// The condition; `.undefinedCondition` if the peer names no condition of the standard.
    public let condition: Condition
    /// The peer's words for people.
    public let text: String?
    /// The language of the text (RFC 6120, 8.3.2); nil if the peer does not say.
    public let language: String?
    /// The entity that found the error, if not the stanza's recipient.
    public let by: JID?
    /// Where `<gone/>` or `<redirect/>` point: a URI.
    public let newAddress: String?
    /// The name of an application's own condition (RFC 6120, 8.3.4).
    public let application: String?

    /// Makes an error; without a kind, with the usual kind of the condition.
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

    /// Reads the `<error/>` of a stanza, or a stanza of type "error"; nil for another element.
    public init?(_ element: Element) {
        let namespace = element.namespace
        guard let namespace, Namespace.ofStanzas.contains(namespace) else { return nil }
        if element.isNamed("error") {
            self.init(error: element)
        } else if element["type"] == "error", StreamManagement.stanzaNames.contains(element.name) {
            guard let error = element.child("error", namespace) else {
                self.init(.undefinedCondition)
                return
            }
            self.init(error: error)
        } else {
            return nil
        }
    }

    /// Reads `<error/>` in any namespace: Bind 2 has its own.
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

    /// The `<error/>` element, without an application's own condition.
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

    /// The error as the answer to a stanza, without its payload.
    ///
    /// - Parameter stanza: an iq of type get or set, a message or a presence.
    /// - Returns: the answer; nil for stanzas that must not be answered with an error: errors, results (RFC 6120,
    ///   8.3.1).
    public func reply(to stanza: Element) -> Element? {
        let type = stanza["type"]
        guard StreamManagement.isStanza(stanza), type != "error", type != "result" else { return nil }
        var attributes = ["type": "error"]
        if let sender = stanza["from"] { attributes["to"] = sender }
        if let id = stanza["id"] { attributes["id"] = id }
        return Element(stanza.name, xmlns: Namespace.client, attributes: attributes, children: [element])
    }
}

extension StanzaError: CustomStringConvertible {
    public var description: String {
        let detail = application.map { ", \(String($0.prefix(60)))" } ?? ""
        return "\(condition.rawValue) (\(kind.rawValue))\(detail)\(ErrorText.suffix(text))"
    }
}
