import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// A stanza of the user that is delivered exactly once: a text, or a hidden stanza, such as a correction or a receipt. It is handled
/// like any message: a row, the queue, the archive's evidence after a lost session.
package struct OutgoingStanza {
    /// A canonical address.
    package let recipient: JID
    package let id: String
    /// The shown text; nil if the stanza is hidden.
    package let body: String?
    /// The id of the message replied to (XEP-0461).
    package var repliesTo: String?
    /// The children besides the origin-id and the hint.
    package let content: [Element]
    /// Whether the stanza is sent again if its outcome is unknown, because it is idempotent.
    package let isRepeatable: Bool
    /// Whether the text is encrypted.
    package var privacy = EncryptionPreference.asConversation

    /// A message that is shown in the conversation.
    package init(text: String, to recipient: JID, id: String, repliesTo: String? = nil, content: [Element]) {
        self.init(recipient, id, text, repliesTo, content, isRepeatable: false)
    }

    /// A stanza that is not shown.
    package init(hidden content: [Element], to recipient: JID, id: String, isRepeatable: Bool) {
        self.init(recipient, id, nil, nil, content, isRepeatable: isRepeatable)
    }

    /// A stored text that is sent again. A text that was encrypted stays encrypted.
    package init(again message: Message, content: [Element]) {
        self.init(
            text: message.body ?? "", to: .received(message.to), id: message.messageID, repliesTo: message.repliesTo,
            content: content)
        if message.encryption != nil { privacy = .encrypted }
    }

    private init(
        _ recipient: JID, _ id: String, _ body: String?, _ repliesTo: String?, _ content: [Element], isRepeatable: Bool
    ) {
        (self.recipient, self.id, self.body, self.repliesTo) = (recipient, id, body, repliesTo)
        (self.content, self.isRepeatable) = (content, isRepeatable)
    }

    /// The stanza as accepted; features add more (``OutgoingMessageDecorator/decorate(_:in:)``).
    package func element(_ kind: MessageKind = .chat) -> Element {
        let stanza = NewElement(
            "message", in: "jabber:client", ["type": kind.rawValue, "to": recipient.description, "id": id],
            room: content.count + 2)
        for child in content { stanza.element.add(child) }
        // ejabberd archives a message without a text only with this hint (XEP-0334 section 4.4).
        if body == nil { stanza.add("store", in: "urn:xmpp:hints") }
        stanza.add("origin-id", in: "urn:xmpp:sid:0", ["id": id])
        return stanza.element
    }

    private func isRoom(in step: Step) throws -> Bool {
        try step.hooks.roomProviders.contains { try $0.isRoom(recipient, in: step) }
    }

    /// The type of the message and its conversation. A message to a room is for all occupants; a message to an occupant of a room
    /// belongs to the conversation with that occupant.
    private func way(in step: Step) throws -> (kind: MessageKind, conversation: String) {
        let isRoom = try isRoom(in: step)
        let name = isRoom ? recipient.description : recipient.bare.description
        return (isRoom && recipient.isBare ? .groupchat : .chat, name)
    }

    /// Stores and enqueues the stanza.
    /// - Throws: `StanzaTooLong` or `IntentFailure` if the stanza cannot be sent: the step has to be rolled back.
    package func accept(in step: Step, sentAt: Int64) throws -> Message {
        let (message, kind) = try insert(in: step, sentAt: sentAt)
        try queue(message.id, kind, in: step)
        return try Message.load(message.id, from: step.database) ?? message
    }

    /// Stores and enqueues a stanza that was accepted before, and emits its event. A stanza that cannot be sent is stored as failed,
    /// for example if the server no longer accepts stanzas of its size.
    /// - Parameter failure: why the stanza cannot be sent; nil for a stanza to send.
    @discardableResult
    package func enqueue(in step: Step, sentAt: Int64, failure: Reason? = nil) throws -> Message {
        let (message, kind) = try insert(in: step, sentAt: sentAt)
        let failure = try failure ?? refusal { try queue(message.id, kind, in: step) }
        if let failure { try MessageWriter(step: step).fail(message.id, failure) } else { step.flush() }
        // Without a failure, the row of a hidden message is as inserted.
        guard failure != nil || message.isShown else { return message }
        let stored = try Message.load(message.id, from: step.database) ?? message
        if failure == nil { try EventPublisher(step: step).publish(MessageStateChanged(stored)) }
        return stored
    }

    /// Enqueues the stanza of a stored message again, which has failed, or whose outcome is unknown.
    /// - Throws: `StanzaTooLong` or `IntentFailure` if the stanza cannot be sent: the step has to be rolled back.
    package func enqueueAgain(_ message: Message, in step: Step) throws {
        guard let kind = MessageKind(rawValue: message.type), try way(in: step).kind == kind else {
            throw IntentFailure("you have left the room \(recipient.bare): `kalij room join`")
        }
        try RefusedSending(row: message.id).record(in: step)
        try step.database.run(
            "UPDATE message SET state = ?, error = NULL, settled = 1 WHERE id = ?",
            [.state(MessageState.queued), .integer(message.id)])
        try queue(message.id, kind, in: step)
        step.flush()
        try MessageWriter(step: step).emitState(of: message.id)
    }

    private func refusal(of queueing: () throws -> Void) throws -> Reason? {
        do {
            try queueing()
            return nil
        } catch let error where error is StanzaTooLong || error is IntentFailure {
            return Reason(error)
        }
    }

    package func message(
        of account: Account, row: Int64, _ kind: MessageKind = .chat, in conversation: String? = nil, sentAt: Int64
    ) -> Message {
        Message(
            id: row, direction: .outgoing, conversation: conversation ?? recipient.bare.description,
            messageID: id, stanzaID: nil,
            originID: id,
            from: account.jid.description, to: recipient.description, type: kind.rawValue, body: body,
            isShown: body != nil,
            repliesTo: repliesTo, sentAt: sentAt, state: .queued)
    }

    private func queue(_ row: Int64, _ kind: MessageKind, in step: Step) throws {
        let stanza = element(kind)
        let isPrivate = try kind == .chat && !recipient.isBare && isRoom(in: step)
        if isPrivate { stanza.add(Element("x", xmlns: "http://jabber.org/protocol/muc#user")) }
        if body != nil, kind == .chat {
            for decorator in step.hooks.outgoingMessageDecorators { try decorator.decorate(stanza, in: step) }
        }
        let accepted = AcceptedStanza(stanza, of: row, to: recipient, privacy, isRepeatable: isRepeatable)
        var isKept = false
        // The interceptors are called in the reverse order of the processors of incoming messages.
        for interceptor in step.hooks.outgoingMessageInterceptors.reversed()
        where try interceptor.intercepts(accepted, in: step) { isKept = true }
        guard !isKept else { return }
        try OutboundQueue(database: step.database, account: step.account.id)
            .append(stanza.bytes(in: "jabber:client"), message: row, isRepeatable: isRepeatable)
    }

    private func insert(in step: Step, sentAt: Int64) throws -> (message: Message, kind: MessageKind) {
        let (kind, conversation) = try way(in: step)
        var message = message(of: step.account, row: 0, kind, in: conversation, sentAt: sentAt)
        let archive = kind == .groupchat ? Archive(room: recipient) : .own
        guard try message.insert(at: step.nextPosition(), in: archive.key, in: step) else {
            throw StoreError(.constraint, "a message was accepted under the same id before")
        }
        return (message, kind)
    }
}
