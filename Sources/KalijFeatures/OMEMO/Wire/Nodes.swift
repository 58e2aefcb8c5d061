import KalijAddress
import KalijRatchet
import KalijCore
import KalijXML

/// Requests to nodes with keys (XEP-0060, XEP-0163).
enum Nodes {
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    /// Requests the newest item of `node` at `jid`, or the item `id`; a nil `jid` is the account itself.
    static func items(of node: String, id: String? = nil, at jid: JID?) -> Element {
        let items = Element("items", xmlns: pubsub, attributes: ["node": node])
        if let id {
            items.add(Element("item", xmlns: pubsub, attributes: ["id": id]))
        } else {
            items["max_items"] = "1"
        }
        return .request(.get, Element("pubsub", xmlns: pubsub, children: [items]), to: jid)
    }

    /// The content of the last item in a response to ``items(of:id:at:)``; nil if there is none.
    static func content(of node: String, in answer: Element) -> Element? {
        guard let items = answer.child("pubsub", pubsub)?.child("items"), items["node"] == node else { return nil }
        return items.children("item").last?.children.first
    }

    /// Publishes an item with public read access.
    /// - Parameter withOptions: whether the request fails at a node with another configuration, instead of publishing to it.
    /// - Parameter isOfMany: whether the node stores many items.
    static func publish(
        _ content: Element, as id: String, to node: String, isOfMany: Bool = false, withOptions: Bool
    ) -> Element {
        let item = Element("item", xmlns: pubsub, attributes: ["id": id], children: [content])
        let publish = Element("publish", xmlns: pubsub, attributes: ["node": node], children: [item])
        let element = Element("pubsub", xmlns: pubsub, children: [publish])
        if withOptions {
            let form = DataForm(.submit, formType: pubsub + "#publish-options", fields: open(isOfMany))
            element.add(Element("publish-options", xmlns: pubsub, children: [form.element]))
        }
        return .request(.set, element)
    }

    /// Configures `node` with public read access.
    static func configure(_ node: String, isOfMany: Bool = false) -> Element {
        let owner = pubsub + "#owner"
        let form = DataForm(.submit, formType: pubsub + "#node_config", fields: open(isOfMany))
        let configure = Element("configure", xmlns: owner, attributes: ["node": node], children: [form.element])
        return .request(.set, Element("pubsub", xmlns: owner, children: [configure]))
    }

    private static func open(_ isOfMany: Bool) -> [DataForm.Field] {
        [
            DataForm.Field("pubsub#access_model", values: ["open"]),
            DataForm.Field("pubsub#persist_items", values: ["true"]),
        ] + (isOfMany ? [DataForm.Field("pubsub#max_items", values: ["max"])] : [])
    }

    /// Deletes this device's bundle from the server: its node, or its item of the node.
    static func deleteBundle(of device: UInt32, _ dialect: OMEMOVersion) -> Element {
        let node = dialect.bundleNode(device)
        guard dialect == .omemo2 else { return delete(node) }
        let item = Element("item", xmlns: pubsub, attributes: ["id": dialect.bundleItem(device)])
        let retract = Element("retract", xmlns: pubsub, attributes: ["node": node], children: [item])
        return .request(.set, Element("pubsub", xmlns: pubsub, children: [retract]))
    }

    private static func delete(_ node: String) -> Element {
        let owner = pubsub + "#owner"
        let delete = Element("delete", xmlns: owner, attributes: ["node": node])
        return .request(.set, Element("pubsub", xmlns: owner, children: [delete]))
    }

    /// Subscribes `account` to `node` at `jid`.
    static func subscribe(to node: String, at jid: JID, _ account: JID) -> Element {
        let subscribe = Element("subscribe", xmlns: pubsub, attributes: ["node": node, "jid": account.description])
        return .request(.set, Element("pubsub", xmlns: pubsub, children: [subscribe]), to: jid)
    }
}
