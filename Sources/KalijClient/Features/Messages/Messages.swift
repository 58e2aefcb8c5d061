import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// Messages: each is stored exactly once, whatever way and however often it comes.
struct Messages {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// A `<message/>` that the server delivered.
    func receive(_ message: Element) throws {
        if message["type"] == "error" { return try refused(message) }
        let received = Received(
            message, account: step.account.jid, archived: nil, trustsArchive: step.trustsArchive, now: step.now)
        try displayed(message, received)
        guard received.isKept else { return }
        if received.direction == .outgoing, try meetsOwn(received, place: nil) { return }
        let position = try step.nextPosition()
        try insert(received, position: position, catchup: 0)
    }

    /// A message as the archive has it, behind the one that has the order number `previous`.
    /// - Returns: the order number that it has now, and whether it had none behind `previous` before; nil for what is no
    ///   message.
    func receive(
        _ message: Element, archiveID: String, at: Int64?, catchup: Int64, behind previous: Int64
    ) throws -> (position: Int64, isMoved: Bool)? {
        if message["type"] == "error" {
            try refused(message)
            return nil
        }
        let received = Received(
            message, account: step.account.jid, archived: (archiveID, at), trustsArchive: true, now: step.now)
        try displayed(message, received)
        try stampUnarchived(received)
        let kept = try place(of: received).flatMap { $0 > previous ? $0 : nil }
        let position = try kept ?? step.nextPosition()
        let meets = try received.direction == .outgoing && meetsOwn(received, place: (position, catchup))
        if try !meets && !moved(received, to: position, catchup: catchup) {
            try insert(received, position: position, catchup: catchup)
        }
        return (position, kept == nil)
    }

    /// The order number of the message, if it is in a row already.
    private func place(of received: Received) throws -> Int64? {
        if received.direction == .outgoing, let origin = received.ownID {
            let place = try database.statement(
                """
                SELECT position FROM message
                WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL
                """
            ).first([account, .text(origin)]) { $0.integer(0) }
            if let place { return place }
        }
        return try database.statement(
            """
            SELECT position FROM message
            WHERE account = ? AND archive = '' AND stanza_id = ? AND sender = ? AND message_id = ?
            """
        ).first(
            [account, .optional(received.stanzaID), .text(received.sender.description), .text(received.messageID)]
        ) { $0.integer(0) }
    }

    /// The server has these messages.
    func acknowledged(_ messages: [Int64]) throws {
        for id in messages {
            try database.run(
                "UPDATE message SET state = 'acked' WHERE id = ? AND state IN ('queued', 'sent')", [.integer(id)])
            if database.changes > 0 { try emitState(of: id) }
        }
    }

    private func insert(_ received: Received, position: Int64, catchup: Int64) throws {
        let state: MessageState? = received.direction == .outgoing ? .acked : nil
        try database.run(
            """
            INSERT INTO message(account, direction, conversation, position, archive, stanza_id, message_id, origin_id,
                sender, recipient, type, body, sent_at, received_at, state, catchup)
            VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                account, .text(received.direction.rawValue), .text(received.conversation), .integer(position),
                .optional(received.stanzaID), .text(received.messageID), .optional(received.originID),
                .text(received.sender.description), .text(received.recipient.description), .text(received.type),
                .optional(received.body), .integer(received.sentAt), .integer(step.now), .optional(state?.rawValue),
                .integer(catchup),
            ])
        guard database.changes > 0 else { return }
        let row = database.lastInsertedRow
        try Notifying(step: step).stored(received, row: row, isArchived: catchup > 0)
        step.emit(
            .message(
                Message(
                    id: row, direction: received.direction, stanzaID: received.stanzaID,
                    originID: received.originID, from: received.sender.description,
                    to: received.recipient.description, type: received.type, body: received.body,
                    sentAt: received.sentAt, state: state)))
    }

    /// Another device of this account says that it has shown messages (XEP-0333).
    private func displayed(_ message: Element, _ received: Received) throws {
        guard received.direction == .outgoing,
            let id = message.child("displayed", "urn:xmpp:chat-markers:0")?["id"]
        else { return }
        try Notifying(step: step).displayed(id, in: received.conversation)
    }

    /// Gives a message that was delivered before the archive's ids were trusted the id that it has there.
    private func stampUnarchived(_ received: Received) throws {
        guard received.direction == .incoming, let origin = received.originID else { return }
        try database.run(
            """
            UPDATE OR IGNORE message SET stanza_id = ? WHERE account = ? AND sender = ? AND origin_id = ?
                AND message_id = ? AND stanza_id IS NULL AND direction = 'in'
            """,
            [
                .optional(received.stanzaID), account, .text(received.sender.description), .text(origin),
                .text(received.messageID),
            ])
    }

    /// Whether the message is in a row already, delivered live; that row takes its place in the archive's order.
    private func moved(_ received: Received, to position: Int64, catchup: Int64) throws -> Bool {
        try database.run(
            """
            UPDATE message SET position = ?, catchup = ?
            WHERE account = ? AND archive = '' AND stanza_id = ? AND sender = ? AND message_id = ?
            """,
            [
                .integer(position), .integer(catchup), account, .optional(received.stanzaID),
                .text(received.sender.description), .text(received.messageID),
            ])
        return database.changes > 0
    }

    /// Whether this is a copy of a message written when it was accepted here: the archive having it settles it.
    private func meetsOwn(_ received: Received, place: (position: Int64, catchup: Int64)?) throws -> Bool {
        guard let origin = received.ownID else { return false }
        let row = try database.statement(
            """
            SELECT id, state FROM message
            WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL
            """
        ).first([account, .text(origin)]) { ($0.integer(0), $0.text(1)) }
        guard let (id, state) = row else { return false }
        try database.run(
            """
            UPDATE OR IGNORE message SET stanza_id = coalesce(?, stanza_id), position = coalesce(?, position),
                catchup = coalesce(?, catchup), settled = 1,
                state = CASE WHEN state IN ('queued', 'sent') THEN 'acked' ELSE state END
            WHERE id = ?
            """,
            [.optional(received.stanzaID), .optional(place?.position), .optional(place?.catchup), .integer(id)])
        if state == "queued" || state == "sent" { try emitState(of: id) }
        return true
    }

    /// An error that answers one of our messages (RFC 6120 8.3).
    private func refused(_ message: Element) throws {
        guard let id = message["id"], let from = message["from"] else { return }
        let reason = StanzaError(message)?.description ?? "error without a reason"
        let row = try database.statement(
            """
            SELECT id FROM message
            WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL AND conversation = ?
                AND state <> 'failed'
            """
        ).first([account, .text(id), .text(JID.received(from).bare.description)]) { $0.integer(0) }
        guard let row else { return }
        try database.run(
            "UPDATE message SET state = 'failed', error = ?, settled = 1 WHERE id = ?", [.text(reason), .integer(row)])
        try emitState(of: row)
    }

    private func emitState(of id: Int64) throws {
        if let message = try Message.load(id, from: database) { step.emit(.state(message)) }
    }
}
