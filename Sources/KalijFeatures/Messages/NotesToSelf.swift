import KalijSteps
import KalijStore

/// What another client of the account's sends to the account itself. The server delivers such a message, and a copy of it (XEP-0280), and
/// archives it as sent and as received, under two ids (XEP-0313).
struct NotesToSelf {
    let step: Step

    private func isNote(_ received: IncomingMessage) -> Bool {
        received.direction == .outgoing && received.type != "groupchat"
            && received.conversation.exact == step.account.jid.description.exact
    }

    /// The place of the same message, if it came before.
    func place(of received: IncomingMessage) throws -> Messages.Place? {
        guard isNote(received), !received.messageID.isEmpty else { return nil }
        return try step.database.statement(
            // Some clients use an id twice, but hardly for the same text.
            """
            SELECT id, position, catchup > 0 AS confirmed FROM message
            WHERE message_id = ?2 AND account = ?1 AND conversation = ?3 AND sender = ?4 AND direction = 'out'
                AND received_at IS NOT NULL AND origin_id IS ?5 AND (body IS ?6 OR ?5 IS NOT NULL
                    OR edited_at IS NOT NULL OR erased IS NOT NULL OR encryption IS NOT NULL)
            """
        ).first([
            .integer(step.account.id), .text(received.messageID), .text(received.conversation),
            .text(received.sender.description), .optional(received.originID), .optional(received.shownBody),
        ]) {
            Messages.Place(
                row: $0.integer("id"), position: $0.integer("position"), isConfirmed: $0.bool("confirmed"))
        }
    }

    /// Whether the archive shows the other copy of a message that it has shown before: the first gives the place.
    /// - Parameter last: the order number of the last message that the reading has shown.
    func isShownAgain(_ received: IncomingMessage, _ place: Messages.Place?, after last: Int64) -> Bool {
        isNote(received) && place.map { $0.isConfirmed && $0.position <= last } ?? false
    }
}
