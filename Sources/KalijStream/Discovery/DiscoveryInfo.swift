import KalijXML

/// An entity's description: identities, features and forms (XEP-0030 section 3, XEP-0128).
public struct DiscoveryInfo: Hashable, Sendable {
    /// A kind of entity (XEP-0030 section 3.1).
    public struct Identity: Hashable, Sendable {
        /// A category of the registrar, such as `client`.
        public var category: String
        /// A type of the registrar, such as `pc`.
        public var type: String
        /// A name for people; nil if there is none.
        public var name: String?
        /// The language of the name (`xml:lang`); nil if none is in effect.
        public var language: String?

        /// Creates an identity.
        public init(category: String, type: String, name: String? = nil, language: String? = nil) {
            (self.category, self.type, self.name, self.language) = (category, type, name, language)
        }
    }

    /// The identities of the entity.
    public var identities: [Identity]
    /// The namespaces of the supported protocols.
    public var features: [String]
    /// Extended information; the type of each form is its `FORM_TYPE` (XEP-0128).
    public var forms: [DataForm]
    /// The names of unspecified elements, which no hash covers.
    public private(set) var unknown: [String] = []

    /// The namespace of the `<query/>`.
    public static let namespace = "http://jabber.org/protocol/disco#info"

    /// Creates a description.
    public init(identities: [Identity] = [], features: [String] = [], forms: [DataForm] = []) {
        (self.identities, self.features, self.forms) = (identities, features, forms)
    }

    /// Parses the `<query/>` of a response; nil if the element is something else.
    ///
    /// - Parameters:
    ///   - query: the element. Parts without a required attribute are skipped.
    ///   - language: the `xml:lang` in effect around the element, from the stanza or the stream (RFC 6120 4.7.4).
    public init?(_ query: Element, language: String? = nil) {
        guard query.name == "query", query.namespace == DiscoveryInfo.namespace else { return nil }
        self.init()
        let language = query["xml:lang"] ?? language
        for child in query.children {
            switch (child.name, child.namespace) {
            case ("identity", DiscoveryInfo.namespace):
                guard let category = child["category"], let type = child["type"] else { continue }
                identities.append(
                    Identity(
                        category: category, type: type, name: child["name"], language: child["xml:lang"] ?? language))
            case ("feature", DiscoveryInfo.namespace):
                if let feature = child["var"] { features.append(feature) }
            case ("x", "jabber:x:data"):
                if let form = try? DataForm(child) { forms.append(form) }
            default: unknown.append(child.name)
            }
        }
    }

    /// The `<query/>` with this description; `node` is the queried node.
    public func element(node: String? = nil) -> Element {
        let query = Element("query", xmlns: DiscoveryInfo.namespace)
        query["node"] = node
        for identity in identities {
            let element = query.add(
                Element("identity", attributes: ["category": identity.category, "type": identity.type]))
            element["name"] = identity.name
            element["xml:lang"] = identity.language
        }
        for feature in features { query.add(Element("feature", attributes: ["var": feature])) }
        for form in forms { query.add(form.element) }
        return query
    }

    /// Whether a feature is supported.
    public func supports(_ feature: String) -> Bool { features.contains(feature) }
}
