import KalijXML

@testable import KalijFeatures
@testable import KalijRatchet

/// The contact's server, as far as the keys of the contact's devices are concerned.
extension SimulatedOMEMO {
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    /// Nobody asks for events of the nodes with bundles. The list of 2 is told to subscribers alone.
    static func isAnnounced(_ node: String) -> Bool {
        !node.hasPrefix(OMEMOVersion.axolotl.namespace + ".bundles") && !node.hasPrefix(OMEMOVersion.omemo2.namespace)
    }

    static func isKeys(_ node: String) -> Bool { OMEMOVersion.allCases.contains { node.hasPrefix($0.namespace) } }

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard isOn, recipient == Self.contact, let pubsub = request.child("pubsub", Self.pubsub) else { return false }
        let (id, resource) = (request["id"] ?? "", session.resource)
        server.world.after(random.pick(5000...400_000)) { [weak self] in
            guard let self else { return }
            let answer = answer(pubsub)
            server.route(
                """
                <iq type='\(answer == nil ? "error" : "result")' id='\(id)' from='\(recipient)' \
                to='\(server.account)/\(resource)'>\(answer ?? Self.notFound)</iq>
                """, to: resource)
        }
        return true
    }

    private static let notFound =
        "<error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"

    /// Nil if there is no such node.
    private func answer(_ pubsub: Element) -> String? {
        if let node = pubsub.child("subscribe")?["node"] {
            guard OMEMOVersion.allCases.contains(where: { $0.listNode == node && list($0) != nil }) else { return nil }
            subscriptions.insert(node)
            return ""
        }
        guard let items = pubsub.child("items"), let node = items["node"] else { return nil }
        for dialect in OMEMOVersion.allCases {
            if node == dialect.listNode {
                return list(dialect).map { Self.items(of: node, $0, as: OMEMOVersion.listItem, Self.pubsub) }
            }
            for device in devices where dialect.bundleNode(device.id) == node {
                let id = dialect.bundleItem(device.id)
                // A node of 2 has the bundles of all devices.
                guard dialect == .axolotl || items.child("item")?["id"] == id else { continue }
                return (try? device[dialect]?.bundle()).map {
                    Self.items(of: node, Self.xml($0.element(dialect)), as: id, Self.pubsub)
                }
            }
        }
        return nil
    }

    private static func items(of node: String, _ content: String, as id: String, _ namespace: String) -> String {
        let name = namespace.hasSuffix("#event") ? "event" : "pubsub"
        return
            "<\(name) xmlns='\(namespace)'><items node='\(node)'><item id='\(id)'>\(content)</item></items></\(name)>"
    }

    /// Nil if none of the devices knows the format.
    private func list(_ dialect: OMEMOVersion) -> String? {
        guard devices.contains(where: { $0[dialect] != nil }) else { return nil }
        let ids = zip(devices, listed).filter { $0[dialect] != nil && $1 }.map(\.0.id)
        return Self.xml(DeviceList(ids).element(dialect))
    }

    func present(_ presence: Element, of session: ServerSession) {
        guard isOn, isContact, presence["type"] == nil, presence["to"] == nil else { return }
        tell(session)
    }

    func tell(_ session: ServerSession) {
        for dialect in [OMEMOVersion.axolotl, .omemo2] {
            guard isContact && dialect == .axolotl || subscriptions.contains(dialect.listNode),
                let list = list(dialect)
            else { continue }
            let items = Self.items(of: dialect.listNode, list, as: OMEMOVersion.listItem, Self.pubsub + "#event")
            server.send(
                """
                <message from='\(Self.contact)' to='\(server.address(session))' type='headline' \
                id='\(server.newID("n"))'>\(items)</message>
                """, to: session)
        }
    }
}
