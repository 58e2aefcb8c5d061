import KalijXML

/// An error that ends a stream: `<stream:error/>` (RFC 6120, 4.9).
public struct StreamError: Error, Hashable, Sendable {
    /// The conditions of RFC 6120, 4.9.3.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        case badFormat = "bad-format"
        case badNamespacePrefix = "bad-namespace-prefix"
        case conflict
        case connectionTimeout = "connection-timeout"
        case hostGone = "host-gone"
        case hostUnknown = "host-unknown"
        case improperAddressing = "improper-addressing"
        case internalServerError = "internal-server-error"
        case invalidFrom = "invalid-from"
        case invalidNamespace = "invalid-namespace"
        case invalidXML = "invalid-xml"
        case notAuthorized = "not-authorized"
        case notWellFormed = "not-well-formed"
        case policyViolation = "policy-violation"
        case remoteConnectionFailed = "remote-connection-failed"
        case reset
        case resourceConstraint = "resource-constraint"
        case restrictedXML = "restricted-xml"
        case seeOtherHost = "see-other-host"
        case systemShutdown = "system-shutdown"
        case undefinedCondition = "undefined-condition"
        case unsupportedEncoding = "unsupported-encoding"
        case unsupportedFeature = "unsupported-feature"
        case unsupportedStanzaType = "unsupported-stanza-type"
        case unsupportedVersion = "unsupported-version"
    }

    /// The condition; `.undefinedCondition` if the peer names no condition of the standard.
    public let condition: Condition
    /// The peer's words for people.
    public let text: String?
    /// Where `<see-other-host/>` points: a host name or an address, perhaps with ":port" (RFC 6120, 4.9.3.19). To be
    /// believed inside TLS alone.
    public let otherHost: String?
    /// The name of an application's own condition (RFC 6120, 4.9.4), as "handled-count-too-high".
    public let application: String?

    /// Makes an error.
    public init(_ condition: Condition, text: String? = nil, otherHost: String? = nil, application: String? = nil) {
        self.condition = condition
        self.text = text
        self.otherHost = otherHost
        self.application = application
    }

    /// Reads `<stream:error/>`; nil for another element.
    public init?(_ element: Element) {
        guard element.isNamed("error", Namespace.stream) else { return nil }
        var condition = Condition.undefinedCondition
        var otherHost: String?
        var application: String?
        for child in element.children {
            if child.namespace != Namespace.streamErrors {
                application = application ?? child.name
            } else if let known = Condition(rawValue: child.name) {
                condition = known
                if known == .seeOtherHost, !child.text.isEmpty { otherHost = child.text }
            }
        }
        self.init(
            condition, text: ErrorText.of(element, Namespace.streamErrors), otherHost: otherHost,
            application: application)
    }

    /// The error in bytes, followed by the end of the stream (RFC 6120, 4.9.1.1).
    ///
    /// - Parameter details: an application's own condition.
    /// - Returns: bytes for an open stream.
    public func bytes(details: Element? = nil) -> [UInt8] {
        var bytes = Array("<stream:error>".utf8)
        bytes += Element(condition.rawValue, xmlns: Namespace.streamErrors, text: otherHost ?? "").bytes(
            in: Namespace.client)
        if let text { bytes += Element("text", xmlns: Namespace.streamErrors, text: text).bytes(in: Namespace.client) }
        if let details { bytes += details.bytes(in: Namespace.client) }
        return bytes + Array("</stream:error></stream:stream>".utf8)
    }
}

extension StreamError {
    /// Whether a stanza may have caused the end of the stream, by its size or its content. Other causes are the
    /// server's own end, and faults of the stream as a whole.
    public var mayBlameStanza: Bool {
        switch condition {
        case .badFormat, .improperAddressing, .internalServerError, .invalidFrom, .invalidNamespace, .policyViolation,
            .restrictedXML, .unsupportedStanzaType:
            true
        case .undefinedCondition: application != "handled-count-too-high"
        default: false
        }
    }
}

extension StreamError: CustomStringConvertible {
    public var description: String {
        let detail = application.map { ", \(String($0.prefix(60)))" } ?? ""
        return "the server ended the stream: \(condition.rawValue)\(detail)\(ErrorText.suffix(text))"
    }
}
