import KalijXML

/// The server's rejection of an authentication: `<failure/>` (RFC 6120, 6.5).
public struct SASLError: Error, Hashable, Sendable {
    /// The conditions of RFC 6120, 6.5.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        /// 6.5.1: acknowledges the client's `<abort/>`.
        case aborted
        /// 6.5.2: the account is temporarily disabled.
        case accountDisabled = "account-disabled"
        /// 6.5.3: the credentials have expired.
        case credentialsExpired = "credentials-expired"
        /// 6.5.4: the mechanism cannot be used without TLS.
        case encryptionRequired = "encryption-required"
        /// 6.5.5: the client's Base64 is invalid.
        case incorrectEncoding = "incorrect-encoding"
        /// 6.5.6: the client may not act as the requested identity.
        case invalidAuthzid = "invalid-authzid"
        /// 6.5.7: the mechanism is not supported.
        case invalidMechanism = "invalid-mechanism"
        /// 6.5.8: the request is malformed.
        case malformedRequest = "malformed-request"
        /// 6.5.9: the mechanism is weaker than the server's policy allows.
        case mechanismTooWeak = "mechanism-too-weak"
        /// 6.5.10: wrong credentials, or a reason that the server does not disclose.
        case notAuthorized = "not-authorized"
        /// 6.5.11: the server has failed temporarily; a later attempt may succeed.
        case temporaryAuthFailure = "temporary-auth-failure"
    }

    /// The condition; nil if the server has specified no condition of the standard.
    public let condition: Condition?
    /// The server's text for people.
    public let text: String?

    /// Creates an error.
    public init(_ condition: Condition?, text: String? = nil) {
        self.condition = condition
        self.text = text
    }

    /// Parses `<failure/>` of RFC 6120 or of XEP-0388; nil for another element.
    public init?(_ element: Element) {
        let namespaces = [Namespace.sasl, Namespace.sasl2]
        guard element.name == "failure", let own = element.namespace, namespaces.contains(own) else { return nil }
        // In XEP-0388 the conditions have the namespace of RFC 6120; Prosody uses its own for some.
        let conditions = element.children.lazy.filter { $0.namespace == Namespace.sasl || $0.namespace == own }
        self.init(conditions.compactMap { Condition(rawValue: $0.name) }.first, text: ErrorText.of(element, own))
    }

    /// Whether user name, password or account are rejected: a retry without a change would fail again.
    public var isRefusal: Bool {
        switch condition {
        case .notAuthorized, .accountDisabled, .credentialsExpired, .invalidAuthzid: true
        default: false
        }
    }

    /// Whether a later attempt may succeed, according to the server.
    public var isTemporary: Bool { condition == .temporaryAuthFailure }
}

extension SASLError: CustomStringConvertible {
    public var description: String {
        "the server refused the login: \(condition?.rawValue ?? "no known condition")\(ErrorText.suffix(text))"
    }
}

/// The `<text/>` of all errors of XMPP.
enum ErrorText {
    static func of(_ error: Element, _ namespace: String) -> String? {
        guard let text = error.child("text", namespace)?.text, !text.isEmpty else { return nil }
        return text
    }

    /// " (the server's text)", truncated to fit a line and without control characters.
    static func suffix(_ text: String?) -> String {
        guard let text else { return "" }
        let shown = text.unicodeScalars.prefix(300).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return " (\(String(shown)))"
    }
}
