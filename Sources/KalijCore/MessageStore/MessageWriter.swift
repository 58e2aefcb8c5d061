import KalijAddress
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// Stores messages: each exactly once, from any source and however often it is delivered.
package struct MessageWriter {
    package let step: Step

    package init(step: Step) { self.step = step }
    package var database: Database { step.database }
    package var account: Value { .integer(step.account.id) }

    /// Stores a delivered message; `position` is the order number reserved for the message, if any.
    package func deliver(_ received: IncomingMessage, at position: Int64?) throws {
        // The copy of an own message proves that the own message arrived.
        if let own = try ownPlace(of: received) { return try settleOwn(received, own, at: nil) }
        if let twin = try received.twin ?? DoubleDeliveries(step: step).place(of: received)?.row {
            return try lend(received, to: twin)
        }
        if try insert(received, position: try position ?? step.nextPosition(), catchup: 0) { step.tailGrew() }
    }

    /// The server has acknowledged the messages.
    package func acknowledged(_ messages: [Int64]) throws {
        for id in messages {
            for observer in step.hooks.storedMessageObservers { try observer.didAcknowledge(id, in: step) }
            try database.run(
                "UPDATE message SET settled = 1, state = ? WHERE id = ? AND state IN (?, ?)",
                [
                    .state(MessageState.acked), .integer(id), .state(MessageState.queued), .state(MessageState.sent),
                ])
            guard database.changes > 0 else { continue }
            try emitState(of: id)
            step.tailGrew()
        }
    }

    /// Adds the archive's id to the row of the same content, which may have been received from a source without an id.
    package func lend(_ received: IncomingMessage, to twin: Int64) throws {
        try database.run(
            "UPDATE OR IGNORE message SET stanza_id = ? WHERE id = ? AND stanza_id IS NULL AND archive = ?",
            [.optional(received.stanzaID), .integer(twin), .text(received.archive)])
    }

    /// Stores a message in a new row; false if the message has a row already.
    package func insert(_ received: IncomingMessage, position: Int64, catchup: Int64) throws -> Bool {
        // The room's reflection proves the delivery.
        let state: MessageState? =
            received.direction == .outgoing ? received.type == "groupchat" ? .delivered : .acked : nil
        var message = Message(
            id: 0, direction: received.direction, conversation: received.conversation,
            messageID: received.messageID, stanzaID: received.stanzaID,
            originID: received.originID, from: received.sender.description, to: received.recipient.description,
            type: received.type, body: received.shownBody, isShown: received.isShown, repliesTo: received.repliesTo,
            encryption: received.encryption, roomAuthor: received.author.flatMap { RoomAuthor($0) },
            sentAt: received.sentAt, state: state)
        guard
            try message.insert(at: position, in: received.archive, from: received, catchup: catchup, in: step)
        else { return false }
        for observer in step.hooks.storedMessageObservers { try observer.didInsert(&message, from: received, in: step) }
        // Not changed from here on: each call would copy a variable.
        let stored = message
        // No event is emitted for a message that was retracted before it was received.
        let isTold = stored.isShown && stored.erasure == nil
        if isTold { try EventPublisher(step: step).publish(MessageStored(stored)) }
        for observer in step.hooks.storedMessageObservers { try observer.didStore(stored, from: received, in: step) }
        if isTold {
            for observer in step.hooks.storedMessageObservers {
                try observer.didShow(stored, from: received, in: step)
            }
        }
        return true
    }

    /// Emits the event and notifies observers: a stored message is shown in its conversation from now on.
    package func publishShown(_ message: Message, from received: IncomingMessage) throws {
        try EventPublisher(step: step).publish(MessageStored(message))
        for observer in step.hooks.storedMessageObservers { try observer.didShow(message, from: received, in: step) }
    }

    /// Whether the message can be a copy of an own message: sent by the account, or shown by the message's room. Anybody can write
    /// `groupchat` into a message, so in the account's own archive only messages sent by the account count.
    func mayBeOwn(_ received: IncomingMessage) -> Bool {
        received.isOurs ?? (received.direction == .outgoing || !received.archive.isEmpty)
    }

    /// The row of an own message accepted in this directory, if the received message is a copy of it.
    package func ownPlace(of received: IncomingMessage) throws -> Place? {
        guard mayBeOwn(received), let origin = received.ownID else { return nil }
        return try database.statement(
            """
            SELECT id, position, catchup > 0 AS confirmed, state FROM message
            WHERE account = ?1 AND direction = 'out' AND origin_id = ?2 AND received_at IS NULL
                -- In a room anyone may repeat an id that was seen there; and a contact is no room.
                AND (?3 = '' OR conversation = ?3 AND type = 'groupchat' AND (stanza_id IS NULL OR stanza_id = ?4))
            """
        ).first([account, .text(origin), .text(received.archive), .optional(received.stanzaID)]) {
            Place(
                row: $0.integer("id"), position: $0.integer("position"), isConfirmed: $0.bool("confirmed"),
                state: $0.optionalText("state").flatMap(MessageState.init))
        }
    }

    /// Settles an own message by its copy. A copy reflected by a room, or received by the account itself, proves the delivery even
    /// against an error. The account's archive proves nothing about another server, and its copies of refused sendings of a text that is
    /// sent again prove nothing at all.
    package func settleOwn(_ received: IncomingMessage, _ own: Place, at place: (position: Int64, catchup: Int64)?)
        throws
    {
        try database.run(
            """
            UPDATE OR IGNORE message SET archive = ?1, stanza_id = coalesce(?2, stanza_id), position = coalesce(?3, position),
                catchup = coalesce(?4, catchup), sent_at = coalesce(?5, sent_at), settled = max(settled, NOT ?8),
                error = CASE WHEN type = 'groupchat' OR conversation = ?6 THEN NULL ELSE error END,
                state = CASE WHEN state IN ('queued', 'sent') AND NOT ?8 OR type = 'groupchat' AND state = 'acked'
                    OR state = 'failed' AND (type = 'groupchat' OR conversation = ?6)
                    THEN CASE type WHEN 'groupchat' THEN 'delivered' ELSE 'acked' END ELSE state END
            WHERE id = ?7
            """,
            [
                .text(received.archive), .optional(received.stanzaID), .optional(place?.position),
                .optional(place?.catchup), .optional(own.isConfirmed ? nil : received.archivedAt),
                .text(step.account.jid.description), .integer(own.row),
                .integer(try RefusedSending(row: own.row).isCopied(by: received, in: step) ? 1 : 0),
            ])
        let isMoved = place.map { $0.position != own.position } ?? false
        // Others refer to a message in a room by the id that the room has assigned.
        if isMoved || received.type == "groupchat" && received.stanzaID != nil { try moved(own.row) }
        if try Message.load(own.row, from: database)?.state != own.state { try emitState(of: own.row) }
    }

    /// Handles an error in response to an own message (RFC 6120 8.3). The error counts only from the recipient, from a server on
    /// behalf of the recipient, or from the account's own server, which may refuse to route the message. A message whose delivery is
    /// proven keeps its state: a server also returns messages whose delivery it cannot confirm when a connection between servers ends
    /// (measured: Prosody).
    package func refused(_ message: Element) throws {
        guard let id = message["id"] else { return }
        let sender = message["from"].map(JID.received)
        let isOurs =
            sender == nil || sender == step.account.jid || sender?.description.exact == step.account.jid.domain.exact
        let reason = StanzaError(message).map(Reason.init) ?? Reason(other: "error without a reason")
        let row = try database.statement(
            """
            SELECT id FROM message
            WHERE id IN (
                SELECT id FROM message WHERE account = ?1 AND direction = 'out' AND origin_id = ?2 AND received_at IS NULL
                -- An answer to another client of the account is copied (XEP-0280 section 6.1).
                UNION ALL SELECT id FROM message
                WHERE message_id = ?2 AND account = ?1 AND direction = 'out' AND received_at IS NOT NULL)
                -- A private message of a room is in the conversation with its occupant; the room itself answers, too.
                AND (conversation IN (?3, ?8) OR ?4 OR ?3 = ?8 AND substr(conversation, 1, length(?3) + 1) = ?3 || '/')
                AND state NOT IN (?5, ?6, ?7)
            """
        ).first([
            account, .text(id), .text(sender?.bare.description ?? ""), .integer(isOurs ? 1 : 0),
            .state(MessageState.failed), .state(MessageState.delivered), .state(MessageState.displayed),
            .text(sender?.description ?? ""),
        ]) { $0.integer() }
        if let row { try fail(row, reason) }
    }

    /// A client of the recipient has received the message in `row` (XEP-0184): this settles an unknown outcome, and overrides an
    /// error. States only advance.
    package func delivered(_ row: Int64) throws {
        try database.run(
            "UPDATE message SET settled = 1, error = NULL, state = ? WHERE id = ? AND state IN (?, ?, ?, ?)",
            [
                .state(MessageState.delivered), .integer(row), .state(MessageState.queued), .state(MessageState.sent),
                .state(MessageState.acked), .state(MessageState.failed),
            ])
        if database.changes > 0 { try emitState(of: row) }
    }

    /// The recipient has displayed the message in `row`: this settles an unknown outcome, and overrides an error.
    package func displayed(_ row: Int64) throws {
        try database.run(
            "UPDATE message SET settled = 1, error = NULL, state = ? WHERE id = ? AND state IN (?, ?, ?, ?, ?)",
            [
                .state(MessageState.displayed), .integer(row), .state(MessageState.queued), .state(MessageState.sent),
                .state(MessageState.acked), .state(MessageState.delivered), .state(MessageState.failed),
            ])
        if database.changes > 0 { try emitState(of: row) }
    }

    /// The message in `row` has failed permanently.
    package func fail(_ row: Int64, _ reason: Reason) throws {
        try database.run(
            "UPDATE message SET state = ?, error = ?, settled = 1 WHERE id = ?",
            [.state(MessageState.failed), .text(reason.stored), .integer(row)])
        try emitState(of: row)
    }

    /// Removes the row of a failed message, which is retried under the same id as another message.
    package func withdraw(_ row: Int64) throws {
        try database.run(
            "DELETE FROM message WHERE id = ? AND state = ?", [.integer(row), .state(MessageState.failed)])
        if database.changes > 0 { try step.messageStored(-1) }
    }

    /// Notifies observers that the message in `row` has another place, or another id.
    package func moved(_ row: Int64) throws {
        step.transaction.moved()
        for observer in step.hooks.storedMessageObservers { try observer.didReorder(row, in: step) }
    }

    package func emitState(of id: Int64) throws {
        guard let message = try Message.load(id, from: database) else { return }
        if message.isShown { try EventPublisher(step: step).publish(MessageStateChanged(message)) }
        for observer in step.hooks.storedMessageObservers { try observer.didChangeState(message, in: step) }
    }
}
