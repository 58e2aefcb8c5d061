import KalijXML

/// The offers of a server: `<stream:features/>` (RFC 6120, 4.3.2).
public struct StreamFeatures: Hashable, Sendable {
    private struct Feature: Hashable, Sendable {
        let name: String
        let namespace: String?
    }

    private let features: Set<Feature>
    /// What is offered for a login.
    let login: SASLOffer
    /// The names of the SASL mechanisms, as written by the server (RFC 6120, 6.3.3).
    public var mechanisms: [String] { login.mechanisms }
    /// The server's limit for a stanza in bytes (XEP-0478, 2.1); nil if the server does not say. At least 10,000, as
    /// RFC 6120, 13.12 demands of every server.
    public let largestStanza: Int?

    /// Reads the element; nil for another element.
    public init?(_ element: Element) {
        guard element.isNamed("features", Namespace.stream) else { return nil }
        features = Set(element.children.map { Feature(name: $0.name, namespace: $0.namespace) })
        largestStanza = element.child("limits", Namespace.limits)?.child("max-bytes", Namespace.limits)
            .flatMap { Int($0.text) }.map { max(10_000, $0) }
        login = SASLOffer(element)
    }

    /// Whether the feature of this element name is offered.
    public func contains(_ name: String, _ namespace: String) -> Bool {
        features.contains(Feature(name: name, namespace: namespace))
    }

    /// All offers in a form to be stored, `{namespace}name`, in their order: at most 100 of at most 200 bytes each, more than any
    /// server has.
    public var offers: [String] {
        Array(
            features.map { Self.offer($0.name, $0.namespace ?? "") }.filter { $0.utf8.count <= 200 }.sorted().prefix(
                100))
    }

    /// An offer as in ``offers``.
    public static func offer(_ name: String, _ namespace: String) -> String { "{\(namespace)}\(name)" }

    /// STARTTLS (RFC 6120, 5).
    public var offersTLS: Bool { contains("starttls", Namespace.startTLS) }
    /// XEP-0077: an account can be registered in this stream.
    public var offersRegistration: Bool { contains("register", "http://jabber.org/features/iq-register") }
    /// An invitation lets register an account (XEP-0445 section 3; Prosody 0.12 has the older name of XEP-0401).
    public var takesInvitations: Bool {
        contains("register", "urn:xmpp:ibr-token:0") || contains("register", "urn:xmpp:invite")
    }
    /// Resource binding (RFC 6120, 7).
    public var offersBinding: Bool { contains("bind", Namespace.bind) }
    /// XEP-0198: a session can be resumed or enabled.
    public var offersStreamManagement: Bool { contains("sm", Namespace.streamManagement) }
    /// XEP-0352: the server wants to know whether somebody looks.
    public var offersClientState: Bool { contains("csi", Namespace.clientState) }
}
