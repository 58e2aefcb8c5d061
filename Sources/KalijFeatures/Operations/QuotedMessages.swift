import FoundationEssentials
import KalijCore
import KalijStore

/// Finds the messages that the messages of a page reply to, by a single query.
package struct QuotedMessages {
    private let database: Database
    private let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// A reference in a reply.
    private struct Name: Encodable {
        let id: String
        let conversation: String
        let isRoom: Bool
        /// The row of the reply; negative in the mailbox.
        let answer: Int64
    }

    /// `messages` with the messages that they reply to, as far as those are stored.
    /// - Parameter fileNames: the names of the files that messages share, by their rows; empty without a name.
    package func added(
        to messages: [Message], fileNames: (_ rows: [Int64]) throws -> [Int64: String]
    ) throws -> [Message] {
        let names = messages.compactMap { message in
            message.repliesTo.map {
                Name(
                    id: $0, conversation: message.conversation, isRoom: message.type == "groupchat", answer: message.id)
            }
        }
        guard !names.isEmpty else { return messages }
        let found = try found(names)
        let files = found.isEmpty ? [:] : try fileNames(found.map(\.message.id))
        let quoted = Dictionary(
            found.map { ($0.answer, QuotedMessage($0.message, start: $0.start, file: files[$0.message.id])) }
        ) { first, _ in first }
        return messages.map { message in
            var message = message
            message.answered = quoted[message.id]
            return message
        }
    }

    /// In a room only the id that the room has assigned is unique: an occupant can choose any other id. Elsewhere the sender's id is
    /// used: if several messages of the conversation have it, the newest before the reply, among the newest hundred messages with the
    /// id in all conversations. A reply to a correction refers to the original.
    private func found(_ names: [Name]) throws -> [(answer: Int64, message: Message, start: String?)] {
        let list = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
        return try database.statement(
            """
            WITH named(answer, name, conversation, is_room, place) AS MATERIALIZED (
                SELECT value ->> '$.answer', value ->> '$.id', value ->> '$.conversation', value ->> '$.isRoom',
                    coalesce((SELECT position FROM message WHERE id = value ->> '$.answer'), 9223372036854775807)
                FROM json_each(?1)),
            found(answer, row) AS MATERIALIZED (SELECT n.answer, CASE WHEN n.is_room THEN
                (SELECT id FROM message WHERE stanza_id = n.name AND account = ?2 AND archive = n.conversation
                    AND conversation = n.conversation LIMIT 1)
                ELSE (SELECT c.id FROM (SELECT id, position, position < n.place AS earlier FROM message WHERE id IN (
                        SELECT id FROM (SELECT id FROM message WHERE message_id = n.name AND account = ?2
                            ORDER BY id DESC LIMIT 100)
                        UNION ALL SELECT id FROM (SELECT id FROM message WHERE origin_id = n.name AND origin_id IS NOT NULL
                            AND origin_id <> message_id AND account = ?2 ORDER BY id DESC LIMIT 100))
                    AND conversation = n.conversation AND type <> 'groupchat' AND id <> n.answer) c
                    ORDER BY c.earlier DESC, c.position DESC LIMIT 1) END
                FROM named n)
            SELECT found.answer, m.id, m.direction, m.conversation, m.message_id, m.stanza_id, m.origin_id, m.sender, m.recipient,
                m.type, NULL AS body, m.shown, m.edited_at, m.erased, m.corrects, m.reply_to, m.encryption, m.sent_at, m.state,
                m.error, m.settled, m.author, substr(m.body, 1, ?3) AS start
            FROM found LEFT JOIN operation o ON o.message = found.row AND o.kind = 'correction'
                CROSS JOIN message m ON m.id = coalesce(o.target, found.row)
            WHERE m.shown = 1 OR m.erased IS NOT NULL
            """
        ).all([.text(list), .integer(account), .integer(Int64(QuotedMessage.longestText + 1))]) { row in
            (row.integer("answer"), Message(row), row.optionalText("start"))
        }
    }
}
