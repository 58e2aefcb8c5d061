import KalijText
import KalijXML

/// The account's own nodes (XEP-0060, XEP-0163), as the real servers keep nodes (measured).
final class SimulatedNodes: SimulatedFeature {
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    unowned let server: SimulatedServer
    private var nodes: [String: Node] = [:]
    /// The nodes that the client is told of because it has asked.
    private var subscriptions: Set<String> = []
    private var profile: Profile { server.profile }

    struct Node {
        /// Nil for any number.
        var mostItems: Int?
        var access = "presence"
        var isPersistent = true
        var sendsLast = true
        /// Oldest first.
        fileprivate(set) var items: [(id: String, content: String)] = []

        /// The content of the newest item.
        var newest: String? { items.last?.content }

        /// The content of an item.
        func content(of id: String) -> String? { items.first { $0.id.exact == id.exact }?.content }
    }

    init(_ server: SimulatedServer) { self.server = server }

    var announced: [String] { profile.hasNodes ? [Self.pubsub + "#publish", Self.pubsub + "#publish-options"] : [] }

    func node(_ name: String) -> Node? { nodes[name] }

    /// A node that the server makes by itself, because somebody publishes.
    private var made: Node { Node(mostItems: profile.mostItemsOfMadeNodes) }

    // MARK: The account's clients

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard profile.hasNodes else { return nil }
        if let owner = request.child("pubsub", Self.pubsub + "#owner")?.child("configure"), let name = owner["node"] {
            return configure(name, owner)
        }
        if let name = request.child("pubsub", Self.pubsub + "#owner")?.child("delete")?["node"] {
            let isThere = nodes.removeValue(forKey: name) != nil
            return isThere ? .result("") : .error(condition: "item-not-found", type: "cancel")
        }
        guard let request = request.child("pubsub", Self.pubsub) else { return nil }
        if let create = request.child("create"), let name = create["node"] {
            guard nodes[name] == nil else { return .error(condition: "conflict", type: "cancel") }
            nodes[name] = made
            return request.child("configure").map { configure(name, $0) } ?? .result("")
        }
        if let publish = request.child("publish") { return publishing(publish, request.child("publish-options")) }
        if let name = request.child("subscribe")?["node"], SimulatedOMEMO.isKeys(name) { return subscribe(to: name) }
        guard let items = request.child("items"), let name = items["node"] else { return nil }
        guard let node = nodes[name] else { return .error(condition: "item-not-found", type: "cancel") }
        if SimulatedOMEMO.isKeys(name), let id = items.child("item")?["id"] {
            let found = node.items.filter { $0.id == id }
            if found.isEmpty { return .error(condition: "item-not-found", type: "cancel") }
            return .result("<pubsub xmlns='\(Self.pubsub)'>\(Self.list(found, of: name))</pubsub>")
        }
        return .result("<pubsub xmlns='\(Self.pubsub)'>\(Self.list(node.items, of: name))</pubsub>")
    }

    private func subscribe(to name: String) -> SimulatedAnswer {
        guard nodes[name] != nil else { return .error(condition: "item-not-found", type: "cancel") }
        subscriptions.insert(name)
        return .result("")
    }

    /// The values in the form in `element`, by their variables without the prefix.
    private func fields(_ element: Element?) -> [String: String] {
        let fields = (element?.child("x", "jabber:x:data")?.children ?? []).filter { $0.name == "field" }
        return Dictionary(
            fields.map { field in
                ((field["var"] ?? "").replacing("pubsub#", with: ""), field.children.first?.text ?? "")
            }
        ) { $1 }
    }

    private func configure(_ name: String, _ element: Element) -> SimulatedAnswer {
        guard var node = nodes[name] else { return .error(condition: "item-not-found", type: "cancel") }
        let fields = fields(element)
        if let most = fields["max_items"] { node.mostItems = most == "max" ? nil : Int(most) }
        if let access = fields["access_model"] { node.access = access }
        if let persists = fields["persist_items"] { node.isPersistent = ["1", "true"].contains(persists) }
        if let sends = fields["send_last_published_item"] { node.sendsLast = sends != "never" }
        nodes[name] = node
        return .result("")
    }

    private func publishing(_ publish: Element, _ options: Element?) -> SimulatedAnswer? {
        guard let name = publish["node"], let item = publish.child("item"), let id = item["id"],
            let content = item.children.first
        else { return nil }
        var wanted = fields(options)
        wanted["FORM_TYPE"] = nil
        // ejabberd 23.01 refuses options that it does not know.
        if profile.knowsFewOptions, !Set(wanted.keys).isSubset(of: ["persist_items", "access_model"]) {
            // The number of items it refuses in another way.
            return SimulatedOMEMO.isKeys(name) && wanted["max_items"] != nil
                ? .error(condition: "internal-server-error", type: "wait")
                : .error(condition: "bad-request", type: "modify")
        }
        if let node = nodes[name] {
            let isWanted =
                wanted["access_model"].map { $0 == node.access } ?? true
                && wanted["persist_items"].map { ["1", "true"].contains($0) == node.isPersistent } ?? true
            guard isWanted else { return .error(condition: "conflict", type: "cancel") }
        } else {
            nodes[name] = made
            if let access = wanted["access_model"] { nodes[name]?.access = access }
        }
        add(content.xml(in: "jabber:client"), as: id, to: name)
        return .result("<pubsub xmlns='\(Self.pubsub)'><publish node='\(name)'><item id='\(id)'/></publish></pubsub>")
    }

    // MARK: Items

    /// Another device of the account publishes an item, and takes any configuration.
    /// - Parameter acknowledged: called when a client has acknowledged the notification.
    func publish(_ content: String, as id: String, to name: String, acknowledged: @escaping () -> Void) {
        guard profile.hasNodes else { return }
        if nodes[name] == nil { nodes[name] = made }
        add(content, as: id, to: name, acknowledged: acknowledged)
    }

    private func add(_ content: String, as id: String, to name: String, acknowledged: (() -> Void)? = nil) {
        guard var node = nodes[name] else { return }
        server.moved()
        node.items.removeAll { $0.id.exact == id.exact }
        node.items.append((id, content))
        if let most = node.mostItems, node.items.count > most { node.items.removeFirst(node.items.count - most) }
        nodes[name] = node
        guard SimulatedOMEMO.isAnnounced(name) || subscriptions.contains(name) else { return }
        for session in server.sessions where session.isAvailable {
            notify([(id, content)], of: name, session, acknowledged)
        }
    }

    private func notify(
        _ items: [(id: String, content: String)], of name: String, _ session: ServerSession,
        _ acknowledged: (() -> Void)? = nil
    ) {
        server.send(
            """
            <message from='\(server.account)' to='\(server.address(session))' type='headline' id='\(server.newID("n"))'>\
            <event xmlns='\(Self.pubsub)#event'>\(Self.list(items, of: name))</event></message>
            """, to: session, acknowledged: acknowledged)
    }

    private static func list(_ items: [(id: String, content: String)], of name: String) -> String {
        "<items node='\(name)'>" + items.map { "<item id='\($0.id)'>\($0.content)</item>" }.joined() + "</items>"
    }

    /// A session becomes available: unless configured otherwise, the server sends the last item.
    func present(_ presence: Element, of session: ServerSession) {
        guard presence["type"] == nil else { return }
        for (name, node) in nodes.sorted(by: { $0.key < $1.key })
        where node.sendsLast && SimulatedOMEMO.isAnnounced(name) {
            if let last = node.items.last { notify([last], of: name, session) }
        }
    }
}
