import KalijXML

/// The server's refusal of an authentication: `<failure/>` (RFC 6120, 6.5).
public struct SASLError: Error, Hashable, Sendable {
    /// The conditions of RFC 6120, 6.5.
    public enum Condition: String, Hashable, Sendable, CaseIterable {
        /// 6.5.1: acknowledges our `<abort/>`.
        case aborted
        /// 6.5.2: the account is disabled for the time being.
        case accountDisabled = "account-disabled"
        /// 6.5.3: the credentials have expired.
        case credentialsExpired = "credentials-expired"
        /// 6.5.4: the mechanism cannot be used without TLS.
        case encryptionRequired = "encryption-required"
        /// 6.5.5: our Base64 was not understood.
        case incorrectEncoding = "incorrect-encoding"
        /// 6.5.6: we may not act as the requested identity.
        case invalidAuthzid = "invalid-authzid"
        /// 6.5.7: the mechanism is not supported.
        case invalidMechanism = "invalid-mechanism"
        /// 6.5.8: our request was not understood.
        case malformedRequest = "malformed-request"
        /// 6.5.9: the mechanism is weaker than the server's policy allows.
        case mechanismTooWeak = "mechanism-too-weak"
        /// 6.5.10: wrong credentials, or a reason that the server does not tell.
        case notAuthorized = "not-authorized"
        /// 6.5.11: something in the server does not work; try again later.
        case temporaryAuthFailure = "temporary-auth-failure"
    }

    /// The condition; nil if the server names no condition of the standard.
    public let condition: Condition?
    /// The server's words for people.
    public let text: String?

    /// Makes an error.
    public init(_ condition: Condition?, text: String? = nil) {
        self.condition = condition
        self.text = text
    }

    /// Reads `<failure/>` of RFC 6120 or of XEP-0388; nil for another element.
    public init?(_ element: Element) {
        let namespaces = [Namespace.sasl, Namespace.sasl2]
        guard element.name == "failure", let own = element.namespace, namespaces.contains(own) else { return nil }
        // XEP-0388 has the conditions in the namespace of RFC 6120; Prosody has some in its own.
        let conditions = element.children.lazy.filter { $0.namespace == Namespace.sasl || $0.namespace == own }
        self.init(conditions.compactMap { Condition(rawValue: $0.name) }.first, text: ErrorText.of(element, own))
    }

    /// Whether user name, password or account are refused: trying again without a change is of no use.
    public var isRefusal: Bool {
        switch condition {
        case .notAuthorized, .accountDisabled, .credentialsExpired, .invalidAuthzid: true
        default: false
        }
    }

    /// Whether the server says that a later attempt may succeed.
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

    /// " (the server's words)", cut to fit a line and without control characters.
    static func suffix(_ text: String?) -> String {
        guard let text else { return "" }
        let shown = text.unicodeScalars.prefix(300).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return " (\(String(shown)))"
    }
}
