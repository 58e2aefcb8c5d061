import KalijAddress
import KalijXML

/// An item of an entity (XEP-0030 section 4).
public struct DiscoveryItem: Hashable, Sendable {
    /// The namespace of the `<query/>` for items.
    public static let namespace = "http://jabber.org/protocol/disco#items"

    /// The address to query about the item.
    public var jid: JID
    /// The node to query; nil for the entity itself.
    public var node: String?
    /// A name for people; nil if there is none.
    public var name: String?

    /// Creates an item.
    public init(jid: JID, node: String? = nil, name: String? = nil) {
        (self.jid, self.node, self.name) = (jid, node, name)
    }

    /// Parses the `<query/>` of a response; nil if the element is something else. Items without an address are skipped.
    public static func all(in query: Element) -> [DiscoveryItem]? {
        guard query.name == "query", query.namespace == namespace else { return nil }
        return query.children.compactMap { child in
            guard child.isNamed("item", namespace), let jid = child["jid"] else { return nil }
            return DiscoveryItem(jid: .received(jid), node: child["node"], name: child["name"])
        }
    }
}
