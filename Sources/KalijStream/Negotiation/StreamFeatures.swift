import KalijXML

/// The features that a server offers: `<stream:features/>` (RFC 6120, 4.3.2).
public struct StreamFeatures: Hashable, Sendable {
    private struct Feature: Hashable, Sendable {
        let name: String
        let namespace: String?
    }

    private let features: Set<Feature>
    /// The features for authentication.
    let login: SASLOffer
    /// The names of the SASL mechanisms, as written by the server (RFC 6120, 6.3.3).
    public var mechanisms: [String] { login.mechanisms }
    /// The server's maximum size of a stanza in bytes (XEP-0478, 2.1); nil if the server has not specified one. At least 10,000, which
    /// RFC 6120, 13.12 requires of every server.
    public let largestStanza: Int?

    /// Parses the element; nil for another element.
    public init?(_ element: Element) {
        guard element.isNamed("features", Namespace.stream) else { return nil }
        features = Set(element.children.map { Feature(name: $0.name, namespace: $0.namespace) })
        largestStanza = element.child("limits", Namespace.limits)?.child("max-bytes", Namespace.limits)
            .flatMap { Int($0.text) }.map { max(10_000, $0) }
        login = SASLOffer(element)
    }

    /// Whether the feature with this element name is offered.
    public func contains(_ name: String, _ namespace: String) -> Bool {
        features.contains(Feature(name: name, namespace: namespace))
    }

    /// All features in a form to be stored, `{namespace}name`, sorted: at most 100 of at most 200 bytes each, more than any server
    /// offers.
    public var offers: [String] {
        Array(
            features.map { Self.offer($0.name, $0.namespace ?? "") }.filter { $0.utf8.count <= 200 }.sorted().prefix(
                100))
    }

    /// A feature in the form of ``offers``.
    public static func offer(_ name: String, _ namespace: String) -> String { "{\(namespace)}\(name)" }

    /// STARTTLS (RFC 6120, 5).
    public var offersTLS: Bool { contains("starttls", Namespace.startTLS) }
    /// XEP-0077: an account can be registered in this stream.
    public var offersRegistration: Bool { contains("register", "http://jabber.org/features/iq-register") }
    /// An account can be registered with an invitation (XEP-0445 section 3; Prosody 0.12 uses the older name of XEP-0401).
    public var takesInvitations: Bool {
        contains("register", "urn:xmpp:ibr-token:0") || contains("register", "urn:xmpp:invite")
    }
    /// Resource binding (RFC 6120, 7).
    public var offersBinding: Bool { contains("bind", Namespace.bind) }
    /// XEP-0198: a session can be resumed or enabled.
    public var offersStreamManagement: Bool { contains("sm", Namespace.streamManagement) }
    /// XEP-0352: the server supports client state indication.
    public var offersClientState: Bool { contains("csi", Namespace.clientState) }
}
