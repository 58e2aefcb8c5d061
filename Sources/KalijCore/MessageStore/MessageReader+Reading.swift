import KalijStore
import KalijText

/// Queries about what the user has read.
extension MessageReader {
    /// A message and its place in the order of messages.
    package struct Place: Equatable {
        package let row: Int64
        package let position: Int64

        package init(row: Int64, position: Int64) { (self.row, self.position) = (row, position) }
    }

    /// The place of the message in `row`; nil if there is none.
    package func place(of row: Int64) throws -> Place? {
        try position(of: row).map { Place(row: row, position: $0) }
    }

    /// The newest shown incoming message in `conversation`, up to the order number `last`.
    /// - Parameters:
    ///   - first: the order number after which the search begins.
    ///   - reading: the number of a reading of the archive: then the newest message that this reading has not returned, and that is
    ///     not retracted.
    package func newestIncoming(
        in conversation: String, after first: Int64 = .min, through last: Int64 = .max, notShownBy reading: Int64? = nil
    ) throws -> Place? {
        try database.statement(
            """
            SELECT id, position FROM message WHERE account = ?1 AND conversation = ?2 AND position > ?3 AND position <= ?4
                AND shown = 1 AND direction = 'in' AND (?5 IS NULL OR catchup <> ?5 AND erased IS NULL)
            ORDER BY position DESC LIMIT 1
            """
        ).first([
            .integer(account), .text(conversation), .integer(first), .integer(last), .optional(reading),
        ]) {
            Place(row: $0.integer("id"), position: $0.integer("position"))
        }
    }

    /// The last message of `conversation` with the archive's id `id`.
    package func place(archived id: String, in archive: Archive, conversation: String) throws -> Place? {
        try database.statement(
            """
            SELECT id, position FROM message WHERE account = ? AND archive = ? AND stanza_id = ? AND conversation = ?
            ORDER BY position DESC LIMIT 1
            """
        ).first([.integer(account), .text(archive.key), .text(id), .text(conversation)]) {
            Place(row: $0.integer("id"), position: $0.integer("position"))
        }
    }

    /// The number of the archive reading that has last returned the message in `row`, 0 if none has; and the archive's key.
    package func reading(of row: Int64) throws -> (round: Int64, archive: String)? {
        try database.statement("SELECT catchup, archive FROM message WHERE id = ?")
            .first([.integer(row)]) { ($0.integer("catchup"), $0.text("archive")) }
    }

    /// The conversation of the message in `row`; nil if there is no such message.
    package func conversation(of row: Int64) throws -> String? {
        try database.statement("SELECT conversation FROM message WHERE id = ?").first([.integer(row)]) { $0.text() }
    }

    /// Whether the text of the message in `row` was erased, so that its archive may have erased it, too.
    package func isErased(_ row: Int64) throws -> Bool {
        try database.statement("SELECT erased IS NOT NULL FROM message WHERE id = ?").first([.integer(row)]) {
            $0.bool()
        } ?? false
    }

    /// The archive's id of the message in `row`, and the archive's key; nil without a trusted id.
    package func archivedID(of row: Int64) throws -> (id: String, archive: String)? {
        try database.statement("SELECT stanza_id, archive FROM message WHERE id = ? AND stanza_id IS NOT NULL")
            .first([.integer(row)]) { ($0.text("stanza_id"), $0.text("archive")) }
    }

    // MARK: Unread messages

    /// The maximum number of unread messages that is counted.
    package static let maxUnread = 1000

    /// The unread messages: incoming, shown and not erased messages in a part of the order.
    package struct UnreadRange {
        /// The order number after which messages are unread.
        package var position: Int64
        /// The full addresses of senders whose messages do not count.
        package var clients: [String] = []
        /// The number of a reading that assigns new order numbers, and whose messages precede the displayed message: they do not
        /// count.
        package var reading: Int64?

        package init(after position: Int64) { self.position = position }
    }

    /// The number of messages in `range`; at most ``maxUnread``.
    package func unread(in conversation: String, _ range: UnreadRange) throws -> Int {
        // Reading the rows takes longer than counting them in the index.
        guard range.clients.isEmpty, range.reading == nil else { return try unreadRows(in: conversation, range).count }
        let count = try database.statement(
            """
            SELECT count(*) FROM (SELECT 1 FROM message WHERE account = ? AND conversation = ? AND position > ?
                AND shown = 1 AND direction = 'in' AND erased IS NULL LIMIT ?)
            """
        ).first([
            .integer(account), .text(conversation), .integer(range.position), .integer(Int64(Self.maxUnread)),
        ]) { $0.integer() }
        return Int(count ?? 0)
    }

    /// The rows of the messages in `range`, oldest first; of the oldest ``maxUnread`` after the position.
    package func unreadRows(in conversation: String, _ range: UnreadRange) throws -> [Int64] {
        try database.statement(
            """
            SELECT id, sender FROM message WHERE account = ? AND conversation = ? AND position > ?
                AND shown = 1 AND direction = 'in' AND erased IS NULL AND catchup IS NOT ? ORDER BY position LIMIT ?
            """
        ).all([
            .integer(account), .text(conversation), .integer(range.position), .optional(range.reading),
            .integer(Int64(Self.maxUnread)),
        ]) {
            (row: $0.integer("id"), sender: $0.text("sender"))
        }.filter { row in !range.clients.contains { $0.exact == row.sender.exact } }.map(\.row)
    }

    // MARK: Pages of a conversation

    /// The newest `limit` shown messages of `conversation` before the order number `position`, oldest first.
    package func page(_ limit: Int, with conversation: String, before position: Int64) throws -> [Placed] {
        let newestFirst = try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author, position
            FROM message WHERE account = ? AND conversation = ? AND position < ? AND shown = 1
            ORDER BY position DESC LIMIT ?
            """
        ).all([.integer(account), .text(conversation), .integer(position), .integer(Int64(limit))]) {
            (Message($0), $0.integer("position"))
        }
        return newestFirst.reversed()
    }

    /// The oldest `limit` shown messages of `conversation` after the order number `position`, oldest first.
    package func page(_ limit: Int, with conversation: String, after position: Int64) throws -> [Placed] {
        try database.statement(
            """
            SELECT id, direction, conversation, message_id, stanza_id, origin_id, sender, recipient, type, body, shown, edited_at,
                erased, corrects, reply_to, encryption, sent_at, state, error, settled, author, position
            FROM message WHERE account = ? AND conversation = ? AND position > ? AND shown = 1
            ORDER BY position LIMIT ?
            """
        ).all([.integer(account), .text(conversation), .integer(position), .integer(Int64(limit))]) {
            (Message($0), $0.integer("position"))
        }
    }
}
