import KalijText
import KalijXML

/// An error that ends a stream: `<stream:error/>` (RFC 6120, 4.9).
public struct StreamError: Error, Hashable, Sendable {
    /// The conditions of RFC 6120, 4.9.3.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        /// XML that cannot be processed (4.9.3.1).
        case badFormat = "bad-format"
        /// A prefix of a namespace is missing or incorrect (4.9.3.2).
        case badNamespacePrefix = "bad-namespace-prefix"
        /// A new stream replaces this one (4.9.3.3).
        case conflict
        /// One side has received nothing from the other for too long (4.9.3.4).
        case connectionTimeout = "connection-timeout"
        /// The server no longer serves the domain (4.9.3.5).
        case hostGone = "host-gone"
        /// The server does not serve the domain (4.9.3.6).
        case hostUnknown = "host-unknown"
        /// A "from" or "to" between servers is missing or incorrect (4.9.3.7).
        case improperAddressing = "improper-addressing"
        /// The server has failed (4.9.3.8).
        case internalServerError = "internal-server-error"
        /// A stanza's "from" does not match the stream (4.9.3.9).
        case invalidFrom = "invalid-from"
        /// The stream's namespace is incorrect (4.9.3.10).
        case invalidNamespace = "invalid-namespace"
        /// XML that is not valid (4.9.3.11).
        case invalidXML = "invalid-xml"
        /// The client has sent data before it was authenticated (4.9.3.12).
        case notAuthorized = "not-authorized"
        /// XML that is not well-formed (4.9.3.13).
        case notWellFormed = "not-well-formed"
        /// A local policy was violated, such as a limit on the size of a stanza (4.9.3.14).
        case policyViolation = "policy-violation"
        /// The server cannot connect to another one that it requires (4.9.3.15).
        case remoteConnectionFailed = "remote-connection-failed"
        /// The stream has to be reopened, for example because credentials have expired (4.9.3.16).
        case reset
        /// The server is too busy (4.9.3.17).
        case resourceConstraint = "resource-constraint"
        /// A feature of XML that streams must not use, such as a comment (4.9.3.18).
        case restrictedXML = "restricted-xml"
        /// The client is redirected to another host, which the error specifies (4.9.3.19).
        case seeOtherHost = "see-other-host"
        /// The server is shutting down (4.9.3.20).
        case systemShutdown = "system-shutdown"
        /// None of the others; an application-specific condition may follow (4.9.3.21).
        case undefinedCondition = "undefined-condition"
        /// The encoding is not UTF-8 (4.9.3.22).
        case unsupportedEncoding = "unsupported-encoding"
        /// A feature that the stream requires is not supported (4.9.3.23).
        case unsupportedFeature = "unsupported-feature"
        /// A child of the stream that is not a stanza (4.9.3.24).
        case unsupportedStanzaType = "unsupported-stanza-type"
        /// The version of XMPP is not supported (4.9.3.25).
        case unsupportedVersion = "unsupported-version"
    }

    /// The condition; `.undefinedCondition` if the peer has specified no condition of the standard.
    public let condition: Condition
    /// The peer's text for people.
    public let text: String?
    /// The target of `<see-other-host/>`: a host name or an address, optionally with ":port" (RFC 6120, 4.9.3.19). To be trusted only
    /// inside TLS.
    public let otherHost: String?
    /// The name of an application-specific condition (RFC 6120, 4.9.4), such as "handled-count-too-high".
    public let application: String?

    /// Creates an error.
    public init(_ condition: Condition, text: String? = nil, otherHost: String? = nil, application: String? = nil) {
        self.condition = condition
        self.text = text
        self.otherHost = otherHost
        self.application = application
    }

    /// Parses `<stream:error/>`; nil for another element.
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

    /// The serialized error, followed by the end of the stream (RFC 6120, 4.9.1.1).
    ///
    /// - Parameter details: an application-specific condition.
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
    /// Whether a stanza may have caused the end of the stream, by its size or its content. Other causes are the server's shutdown, and
    /// errors of the stream as a whole.
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
        let detail = application.map { ", \($0.cut(to: 60))" } ?? ""
        return "the server ended the stream: \(condition.rawValue)\(detail)\(ErrorText.suffix(text))"
    }
}
