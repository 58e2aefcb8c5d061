import KalijAddress
import KalijHandlers
import KalijCore
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

    // MARK: From other devices

    /// Requests all items at the beginning of a session (section 4.4).
    func requestItems() throws { try node.requestItems(then: DisplayedNodeResponse()) }

    /// Handles items: the id of each is the address of a conversation, the content identifies its newest displayed message.
    func received(_ items: Element) throws {
        for item in items.children("item") {
            // An occupant of a room has no conversation of its own here.
            guard let jid = item["id"].flatMap(JID.prepared), jid == jid.bare,
                let stamp = item.child("displayed", Self.name)?.child("stanza-id", Self.stamps),
                let id = stamp["id"], let by = stamp["by"].map(JID.received), by == step.account.jid || by == jid
            else { continue }
            let archive = by == step.account.jid ? Archive.own : Archive(room: by)
            try DisplayedPlaces(step: step).displayed(.archived(id, archive), in: jid.description)
        }
        try publish()
    }

    // MARK: From this device

    /// Publishes the next place that the user has reached here, unless a publication is in progress.
    /// - Parameter attempt: 2 after the node was configured again.
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

    /// A place that no device has published, and whose message has an archive id. A place is not published while another device's place
    /// in the same conversation waits for its message.
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

    /// The archive was read to its end: a message without an archive id will not receive one.
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

    /// Records that the place at `message` is published, unless the user has read further meanwhile.
    func published(_ conversation: String, _ message: Int64) throws {
        try step.database.run(
            "UPDATE displayed SET unpublished = 0 WHERE account = ? AND conversation = ? AND message = ?",
            [account, .text(conversation), .integer(message)])
    }

    /// Handles the rejection of an item.
    func refused(_ error: StanzaError, attempt: Int) throws {
        // The node has another configuration, or was deleted (XEP-0060 section 7.1.5). Other errors persist in this session.
        guard attempt == 1, error.condition == .conflict || error.condition == .itemNotFound else { return }
        try node.forget()
        try publish(attempt: 2)
    }
}

/// Handles the items of the node. The name is frozen: released databases contain it.
struct DisplayedNodeResponse: InvalidatableHandler {
    static let name = "notifications.displayed"

    func call(_ reply: IQReply, in step: Step) throws {
        let node = DisplayedNode(step: step)
        // An error indicates that nothing was ever published, or that the server has no such nodes.
        guard case .result(let iq) = reply, let items = OwnNode.items(of: DisplayedNode.name, in: iq) else {
            return try node.publish()
        }
        try node.received(items)
    }

    /// The next session requests the items again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// The node was configured, or cannot be.
struct DisplayedNodeConfigured: Handler {
    static let name = "reading.node"
    let attempt: Int

    func call(_ outcome: NodeOutcome, in step: Step) throws {
        if case .ready = outcome { try DisplayedNode(step: step).publish(attempt: attempt) }
    }
}

/// Handles the response to the publication of a place.
struct DisplayedPublishResponse: InvalidatableHandler, PacedHandler {
    static let name = "reading.published"
    /// A server may acknowledge a place and list an earlier one repeatedly.
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

    /// The next session publishes again, unless another device has published a later place by then.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
