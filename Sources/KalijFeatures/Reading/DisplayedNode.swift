import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStore
import KalijStream
import KalijXML

/// The account's node with the displayed places of all conversations (XEP-0490).
struct DisplayedNode {
    static let name = "urn:xmpp:mds:displayed:0"
    private static let stamps = "urn:xmpp:sid:0"

    let step: Step
    private var account: Value { .integer(step.account.id) }
    private var node: OwnNode { OwnNode(Self.name, in: step) }

    // MARK: Of other devices

    /// A session began: asks for all items (section 4.4).
    func ask() throws { try node.ask(then: DisplayedNodeResponse()) }

    /// Each item's id is the address of the conversation; the content names the newest message seen there.
    func received(_ items: Element) throws {
        for item in items.children("item") {
            // A participant of a room has no conversation of its own here.
            guard let jid = item["id"].flatMap(JID.prepared), jid == jid.bare,
                let stamp = item.child("displayed", Self.name)?.child("stanza-id", Self.stamps),
                let id = stamp["id"], let by = stamp["by"].map(JID.received), by == step.account.jid || by == jid
            else { continue }
            let archive = by == step.account.jid ? Archive.own : Archive(room: by)
            try DisplayedPlaces(step: step).displayed(.archived(id, archive), in: jid.description)
        }
        try publish()
    }

    // MARK: Of this device

    /// Publishes the next place that the user has reached here, if no publishing is under way.
    /// - Parameter attempt: 2 after the node was prepared again.
    func publish(attempt: Int = 1) throws {
        guard try !Requests(step: step).isWaiting([DisplayedPublishResponse.name]), try !node.isAwaited,
            let next = try next()
        else { return }
        guard try node.isReady else { return try node.prepare(then: DisplayedNodeConfigured(attempt: attempt)) }
        let by = next.archive.isEmpty ? step.account.jid.description : next.archive
        let stamp = Element("stanza-id", xmlns: Self.stamps, attributes: ["by": by, "id": next.id])
        try node.publish(
            Element("displayed", xmlns: Self.name, children: [stamp]), as: next.conversation,
            then: DisplayedPublishResponse(conversation: next.conversation, message: next.message, attempt: attempt))
    }

    private struct Next {
        let conversation: String
        let message: Int64
        let id: String
        let archive: String
    }

    /// A place that no device has published, and whose message has an id in the archive. A place that waits for another device's
    /// message is not put back.
    private func next() throws -> Next? {
        let messages = MessageReader(database: step.database, account: step.account.id)
        let rows = try step.database.statement(
            """
            SELECT conversation, message FROM displayed INDEXED BY displayed_unpublished
            WHERE account = ?1 AND unpublished = 1
                AND NOT EXISTS (SELECT 1 FROM early_displayed e
                    WHERE e.account = ?1 AND e.conversation = displayed.conversation AND e.archive IS NOT NULL)
            """
        ).all([account]) { ($0.text("conversation"), $0.integer("message")) }
        for (conversation, message) in rows {
            guard let (id, archive) = try messages.archivedID(of: message) else { continue }
            return Next(conversation: conversation, message: message, id: id, archive: archive)
        }
        return nil
    }

    /// The archive was read to its end: a message without an id gets none any more.
    func archiveRead() throws {
        let messages = MessageReader(database: step.database, account: step.account.id)
        let rows = try step.database.statement(
            """
            SELECT conversation, message FROM displayed INDEXED BY displayed_unpublished WHERE account = ? AND unpublished = 1
            """
        ).all([account]) { ($0.text("conversation"), $0.integer("message")) }
        for (conversation, message) in rows where try messages.archivedID(of: message) == nil {
            try published(conversation, message)
        }
        try publish()
    }

    /// The place at `message` need not be published any more, unless the user has read on meanwhile.
    func published(_ conversation: String, _ message: Int64) throws {
        try step.database.run(
            "UPDATE displayed SET unpublished = 0 WHERE account = ? AND conversation = ? AND message = ?",
            [account, .text(conversation), .integer(message)])
    }

    /// The server refuses the item.
    func refused(_ error: StanzaError, attempt: Int) throws {
        // The node has another configuration, or is gone (XEP-0060 section 7.1.5). Other errors stay the same in this session.
        guard attempt == 1, error.condition == .conflict || error.condition == .itemNotFound else { return }
        try node.forget()
        try publish(attempt: 2)
    }
}

/// The items of the node have arrived, or do not. The name is frozen: released databases contain it.
struct DisplayedNodeResponse: InvalidatableHandler {
    static let name = "notifications.displayed"

    func call(_ reply: IQReply, in step: Step) throws {
        let node = DisplayedNode(step: step)
        // An error means that nothing was ever published, or that the server has no such nodes.
        guard case .result(let iq) = reply, let items = OwnNode.items(of: DisplayedNode.name, in: iq) else {
            return try node.publish()
        }
        try node.received(items)
    }

    /// The next session asks again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// The node is prepared, or cannot be.
struct DisplayedNodeConfigured: Handler {
    static let name = "reading.node"
    let attempt: Int

    func call(_ outcome: NodeOutcome, in step: Step) throws {
        if case .ready = outcome { try DisplayedNode(step: step).publish(attempt: attempt) }
    }
}

/// The place was published, or not.
struct DisplayedPublishResponse: InvalidatableHandler, PacedHandler {
    static let name = "reading.published"
    /// A server may confirm a place, and list an earlier one again and again.
    static let pace = RequestPace(100, atOnceThen: .seconds(10), upTo: .seconds(600))
    var paceKey: String { "" }
    let conversation: String
    let message: Int64
    let attempt: Int

    func call(_ reply: IQReply, in step: Step) throws {
        let node = DisplayedNode(step: step)
        switch reply {
        case .result:
            try node.published(conversation, message)
            try node.publish()
        case .error(let error, _): try node.refused(error, attempt: attempt)
        case .timeout: break
        }
    }

    /// The next session publishes anew, unless another device is further by then.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
