import KalijAddress
import KalijXML

/// Something that an entity has, or that belongs to it (XEP-0030 section 4).
public struct DiscoveryItem: Hashable, Sendable {
    /// The namespace of the `<query/>` that asks for items.
    public static let namespace = "http://jabber.org/protocol/disco#items"

    /// Whom to ask about it.
    public var jid: JID
    /// What to ask about; nil is the entity itself.
    public var node: String?
    /// A name for people; nil if there is none.
    public var name: String?

    public init(jid: JID, node: String? = nil, name: String? = nil) {
        (self.jid, self.node, self.name) = (jid, node, name)
    }

    /// Reads the `<query/>` of an answer; nil if the element is something else. What has no address is left out.
    public static func all(in query: Element) -> [DiscoveryItem]? {
        guard query.name == "query", query.namespace == namespace else { return nil }
        return query.children.compactMap { child in
            guard child.isNamed("item", namespace), let jid = child["jid"] else { return nil }
            return DiscoveryItem(jid: .received(jid), node: child["node"], name: child["name"])
        }
    }
}
