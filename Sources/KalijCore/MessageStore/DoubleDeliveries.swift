import KalijStore

/// Messages that a server delivers and archives twice, under two ids (XEP-0313): a message of another client of the account to the
/// account itself arrives as sent and as received (XEP-0280), and a private message of a room arrives at each client in the room under
/// the same nickname.
package struct DoubleDeliveries {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// Whether the server may deliver the message twice.
    package func mayBeDuplicated(_ received: IncomingMessage) -> Bool {
        guard received.type != "groupchat" else { return false }
        return received.direction == .outgoing
            ? received.conversation.exact == step.account.jid.description.exact
            : received.originID != nil && received.conversation.hasByte(UInt8(ascii: "/"))
    }

    /// The place of the other copy of the message, if it is stored.
    package func place(of received: IncomingMessage) throws -> MessageWriter.Place? {
        guard mayBeDuplicated(received), !received.messageID.isEmpty else { return nil }
        return try step.database.statement(
            // Some clients reuse an id, but hardly for the same text.
            """
            SELECT id, position, catchup > 0 AS confirmed FROM message
            WHERE message_id = ?2 AND account = ?1 AND conversation = ?3 AND sender = ?4 AND direction = ?7
                AND received_at IS NOT NULL AND origin_id IS ?5 AND (body IS ?6 OR ?5 IS NOT NULL
                    OR edited_at IS NOT NULL OR erased IS NOT NULL OR encryption IS NOT NULL)
            """
        ).first([
            .integer(step.account.id), .text(received.messageID), .text(received.conversation),
            .text(received.sender.description), .optional(received.originID), .optional(received.shownBody),
            .text(received.direction.rawValue),
        ]) {
            MessageWriter.Place(
                row: $0.integer("id"), position: $0.integer("position"), isConfirmed: $0.bool("confirmed"))
        }
    }

    /// Whether the archive returns the second copy of a message: the first determines the place.
    /// - Parameter last: the order number of the last message that the reading has returned.
    package func isSecondCopy(_ received: IncomingMessage, _ place: MessageWriter.Place?, after last: Int64) -> Bool {
        mayBeDuplicated(received) && place.map { $0.isConfirmed && $0.position <= last } ?? false
    }
}
