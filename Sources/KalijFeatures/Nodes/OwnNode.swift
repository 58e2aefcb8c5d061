import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// A PEP node of the account (XEP-0163) that keeps all of its items.
///
/// The node is created and configured before the first item is published (``prepare(then:)``). ejabberd 23.01 supports only two of the
/// publish options, and a node that ejabberd creates on the first publish keeps a single item.
package struct OwnNode {
    /// The access model of the items (XEP-0060 section 4.5).
    package enum Access: String, Codable, Sendable {
        /// The account's own clients.
        case whitelist
        /// Everybody.
        case open
    }

    /// The progress of the preparation.
    enum State: String { case asked, ready }

    package let step: Step
    package let name: String
    package let access: Access

    package init(_ name: String, _ access: Access = .whitelist, in step: Step) {
        (self.name, self.access, self.step) = (name, access, step)
    }

    private static let pubsub = "http://jabber.org/protocol/pubsub"

    // MARK: Preparing

    private var state: State? {
        get throws {
            try step.database.statement("SELECT state FROM node WHERE account = ? AND name = ?")
                .first([.integer(step.account.id), .text(name)]) { State(rawValue: $0.text("state")) } ?? nil
        }
    }

    /// Whether the node is configured: items may be published.
    package var isReady: Bool { get throws { try state == .ready } }

    /// Whether the node is being prepared: the handler of ``prepare(then:)`` is still to be called.
    package var isAwaited: Bool { get throws { try state == .asked } }

    /// Creates and configures the node, or configures the existing node.
    /// - Parameter handler: gets the outcome, once.
    package func prepare<H: Handler>(then handler: H) throws where H.Context == Step, H.Input == NodeOutcome {
        try set(.asked)
        let create = Element("create", xmlns: Self.pubsub, attributes: ["node": name])
        let configure = Element("configure", xmlns: Self.pubsub, children: [configuration])
        try step.send(
            .request(.set, Element("pubsub", xmlns: Self.pubsub, children: [create, configure])),
            then: NodeCreateResponse(node: name, access: access, handler: Callback(handler)),
            within: EngineLimits.serverTimeout)
    }

    /// Configures the node, which exists already in an unknown configuration.
    func configure(then handler: Callback<Step, NodeOutcome>) throws {
        let owner = Self.pubsub + "#owner"
        let configure = Element("configure", xmlns: owner, attributes: ["node": name], children: [configuration])
        try step.send(
            .request(.set, Element("pubsub", xmlns: owner, children: [configure])),
            then: NodeConfigureResponse(node: name, handler: handler), within: EngineLimits.serverTimeout)
    }

    func settle(_ outcome: NodeOutcome, _ handler: Callback<Step, NodeOutcome>) throws {
        if case .ready = outcome { try set(.ready) } else { try forget() }
        try step.call(handler, outcome)
    }

    /// Discards the state, because the configuration is uncertain: the node has to be prepared again.
    package func forget() throws {
        try step.database.run(
            "DELETE FROM node WHERE account = ? AND name = ?", [.integer(step.account.id), .text(name)])
    }

    private func set(_ state: State) throws {
        try step.database.run(
            "INSERT OR REPLACE INTO node(account, name, state) VALUES (?, ?, ?)",
            [.integer(step.account.id), .text(name), .state(state)])
    }

    private var configuration: Element {
        DataForm(
            .submit, formType: Self.pubsub + "#node_config",
            fields: [
                DataForm.Field("pubsub#max_items", values: ["max"]),
                DataForm.Field("pubsub#access_model", values: [access.rawValue]),
                DataForm.Field("pubsub#persist_items", values: ["1"]),
                DataForm.Field("pubsub#send_last_published_item", values: ["never"]),
            ]
        ).element
    }

    // MARK: Items

    /// Publishes an item (XEP-0060 section 7.1). If the node's configuration no longer matches, the response is an error, and the node
    /// has to be prepared again.
    /// - Returns: the id of the request.
    @discardableResult
    package func publish<H: Handler>(
        _ content: Element, as item: String, then handler: H
    ) throws -> String where H.Context == Step, H.Input == IQReply {
        let item = Element("item", xmlns: Self.pubsub, attributes: ["id": item], children: [content])
        let publish = Element("publish", xmlns: Self.pubsub, attributes: ["node": name], children: [item])
        let options = DataForm(
            .submit, formType: Self.pubsub + "#publish-options",
            fields: [
                DataForm.Field("pubsub#persist_items", values: ["true"]),
                DataForm.Field("pubsub#access_model", values: [access.rawValue]),
            ]
        ).element
        return try step.send(
            .request(
                .set,
                Element(
                    "pubsub", xmlns: Self.pubsub,
                    children: [publish, Element("publish-options", xmlns: Self.pubsub, children: [options])])),
            then: handler, within: EngineLimits.serverTimeout)
    }

    /// Requests all items.
    package func requestItems<H: Handler>(then handler: H) throws where H.Context == Step, H.Input == IQReply {
        let items = Element("items", xmlns: Self.pubsub, attributes: ["node": name])
        try step.send(
            .request(.get, Element("pubsub", xmlns: Self.pubsub, children: [items])), then: handler,
            within: EngineLimits.serverTimeout)
    }

    /// The items in the response to ``requestItems(then:)``.
    package static func items(of node: String, in answer: Element) -> Element? {
        guard let items = answer.child("pubsub", pubsub)?.child("items"), items["node"] == node else { return nil }
        return items
    }

    /// The items of an event of the account's node `node`; nil for any other message and for forged events: only the account itself
    /// publishes there (XEP-0163 section 4.3).
    package static func event(of node: String, in message: Element, account: JID) -> Element? {
        guard let items = message.child("event", pubsub + "#event")?.child("items"), items["node"] == node,
            message["from"].map({ JID.received($0) == account }) ?? true
        else { return nil }
        return items
    }
}

/// The outcome of the preparation of a node.
package enum NodeOutcome {
    /// Items may be published.
    case ready
    /// The server does not support such nodes, or has not responded.
    case refused
}

/// The response to the request to create a node.
struct NodeCreateResponse: InvalidatableHandler {
    static let name = "nodes.created"
    let node: String
    let access: OwnNode.Access
    let handler: Callback<Step, NodeOutcome>

    func call(_ reply: IQReply, in step: Step) throws {
        let node = OwnNode(node, access, in: step)
        switch reply {
        case .result: try node.settle(.ready, handler)
        case .error(let error, _) where error.condition == .conflict: try node.configure(then: handler)
        case .error, .timeout: try node.settle(.refused, handler)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try OwnNode(node, access, in: step).settle(.refused, handler)
    }
}

/// The response to the request to configure an existing node.
struct NodeConfigureResponse: InvalidatableHandler {
    static let name = "nodes.configured"
    let node: String
    let handler: Callback<Step, NodeOutcome>

    func call(_ reply: IQReply, in step: Step) throws {
        if case .result = reply {
            try OwnNode(node, in: step).settle(.ready, handler)
        } else {
            try OwnNode(node, in: step).settle(.refused, handler)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try OwnNode(node, in: step).settle(.refused, handler)
    }
}
