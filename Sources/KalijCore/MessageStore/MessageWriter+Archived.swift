import KalijStore
import KalijXML

/// Messages returned by an archive.
extension MessageWriter {
    /// The stored place of a message.
    package struct Place {
        package let row: Int64
        package let position: Int64
        /// Whether a page of the archive has returned the message.
        package let isConfirmed: Bool
        /// The state of a message accepted here; nil for others.
        package var state: MessageState?
    }

    /// Stores an archived message if it is certainly new, as most are: a row with the same archive's id would conflict.
    /// - Parameter unstamped: whether there are messages without an archive's id; the message may be one of them.
    /// - Returns: false if nothing was stored, and the message has to be looked up (``place(of:)``).
    package func storeNew(_ received: IncomingMessage, at position: Int64, catchup: Int64, unstamped: Bool) throws
        -> Bool
    {
        guard received.stanzaID != nil, !mayBeOwn(received), received.twin == nil,
            received.originID == nil || !unstamped, !DoubleDeliveries(step: step).mayBeDuplicated(received)
        else { return false }
        return try insert(received, position: position, catchup: catchup)
    }

    /// Whether there are incoming messages that were delivered before the archive's ids were trusted.
    package func areUnstamped() throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM message INDEXED BY message_unarchived
            WHERE account = ? AND stanza_id IS NULL AND origin_id IS NOT NULL AND direction = 'in' LIMIT 1
            """
        ).first([account]) { _ in true } ?? false
    }

    /// The place of the message, if it is stored already, from any source.
    package func place(of received: IncomingMessage) throws -> Place? {
        if let own = try ownPlace(of: received) { return own }
        let known = try database.statement(
            """
            SELECT id, position, catchup > 0 AS confirmed FROM message
            WHERE account = ? AND archive = ? AND stanza_id = ? AND sender = ? AND message_id = ?
            """
        ).first([
            account, .text(received.archive), .optional(received.stanzaID), .text(received.sender.description),
            .text(received.messageID),
        ]) { Place(row: $0.integer("id"), position: $0.integer("position"), isConfirmed: $0.bool("confirmed")) }
        return try known ?? unstamped(received) ?? twin(received) ?? DoubleDeliveries(step: step).place(of: received)
    }

    /// The place of the row with the same encrypted content. The row gets the archive's id, if it has none.
    private func twin(_ received: IncomingMessage) throws -> Place? {
        guard let twin = received.twin else { return nil }
        try lend(received, to: twin)
        return try database.statement(
            "SELECT id, position, catchup > 0 AS confirmed FROM message WHERE id = ? AND archive = ?"
        ).first([.integer(twin), .text(received.archive)]) {
            Place(row: $0.integer("id"), position: $0.integer("position"), isConfirmed: $0.bool("confirmed"))
        }
    }

    /// The place of a message that was delivered before the archive's ids were trusted: an incoming message, or a carbon copy of a
    /// sent message. The row gets the archive's id.
    private func unstamped(_ received: IncomingMessage) throws -> Place? {
        guard let origin = received.originID else { return nil }
        let known = try database.statement(Self.unstamped(received.direction)).first([
            account, .text(received.sender.description), .text(origin), .text(received.messageID),
            .text(received.archive),
        ]) { Place(row: $0.integer("id"), position: $0.integer("position"), isConfirmed: false) }
        guard let known else { return nil }
        try database.run(
            "UPDATE OR IGNORE message SET stanza_id = ? WHERE id = ?",
            [.optional(received.stanzaID), .integer(known.row)])
        return database.changes > 0 ? known : nil
    }

    /// Each direction has an index of its own.
    private static func unstamped(_ direction: Direction) -> StaticString {
        switch direction {
        case .incoming:
            """
            SELECT id, position FROM message WHERE account = ? AND sender = ? AND origin_id = ?
                AND message_id = ? AND archive = ? AND stanza_id IS NULL AND direction = 'in'
            """
        case .outgoing:
            """
            SELECT id, position FROM message WHERE account = ? AND sender = ? AND origin_id = ?
                AND message_id = ? AND archive = ? AND stanza_id IS NULL AND direction = 'out' AND received_at IS NOT NULL
            """
        }
    }

    /// Stores a message, or moves its row to the order number `position`.
    /// - Returns: whether the message is new.
    @discardableResult
    package func keep(_ received: IncomingMessage, _ place: Place?, at position: Int64, catchup: Int64) throws -> Bool {
        guard let place else { return try insert(received, position: position, catchup: catchup) }
        if place.state != nil {
            try settleOwn(received, place, at: (position, catchup))
        } else {
            try database.run(
                "UPDATE message SET position = ?, catchup = ?, sent_at = coalesce(?, sent_at) WHERE id = ?",
                [
                    .integer(position), .integer(catchup), .optional(place.isConfirmed ? nil : received.archivedAt),
                    .integer(place.row),
                ])
            if position != place.position { try moved(place.row) }
        }
        return false
    }

    /// Moves the message in `row` to the order number `position`.
    package func move(_ row: Int64, to position: Int64) throws {
        try database.run("UPDATE message SET position = ? WHERE id = ?", [.integer(position), .integer(row)])
        try moved(row)
    }
}
