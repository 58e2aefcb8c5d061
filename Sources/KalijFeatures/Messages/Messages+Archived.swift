import KalijSteps
import KalijStore
import KalijXML

/// Messages as an archive has them.
extension Messages {
    /// Where a message is stored already.
    struct Place {
        package let row: Int64
        package let position: Int64
        /// Whether a page has shown it.
        let isConfirmed: Bool
        /// Of one that was accepted here.
        package var state: String?
    }

    /// Stores a message that an archive shows if it can be told at once that it is new, as most are: its row would be in the
    /// way of another one with the archive's id.
    /// - Parameter unstamped: whether there are messages that have no archive's id yet, of which it may be one.
    /// - Returns: false if nothing was stored, and it is to be looked for (``place(of:)``).
    func storeNew(_ received: IncomingMessage, at position: Int64, catchup: Int64, unstamped: Bool) throws -> Bool {
        guard received.stanzaID != nil, !received.mayBeOwn, received.originID == nil || !unstamped else { return false }
        return try insert(received, position: position, catchup: catchup)
    }

    /// Whether messages of others were delivered before the archive's ids were trusted.
    func areUnstamped() throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM message INDEXED BY message_unarchived
            WHERE account = ? AND stanza_id IS NULL AND origin_id IS NOT NULL AND direction = 'in' LIMIT 1
            """
        ).first([account]) { _ in true } ?? false
    }

    /// Where the message is, if it came before: in whatever way.
    func place(of received: IncomingMessage) throws -> Place? {
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
        return try known ?? unstamped(received)
    }

    /// One that was delivered before the archive's ids were trusted, and gets the id that it has there: to us, or as a copy of
    /// what another device of the account sent.
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

    /// Stores a message, or moves the row that it has already, to the order number `position`.
    /// - Returns: whether it is new.
    @discardableResult
    func keep(_ received: IncomingMessage, _ place: Place?, at position: Int64, catchup: Int64) throws -> Bool {
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
        }
        return false
    }
}
