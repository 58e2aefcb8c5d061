import KalijStore

/// A message before another one of an archive: behind it a reading begins that has to return the other one.
package struct EarlierMessage {
    private let database: Database
    private let account: Int64
    private let archive: Archive
    private var messages: MessageReader { MessageReader(database: database, account: account) }

    package init(database: Database, account: Int64, archive: Archive) {
        (self.database, self.account, self.archive) = (database, account, archive)
    }

    /// A message before the message with the archive's id `id`: of a room the last one, of the account's own archive the last one of
    /// those stored at about the same time, or else one stored earlier; nil if there is none from the order number `first` on.
    package func place(before id: String, from first: Int64) throws -> (id: String, position: Int64)? {
        guard let anchor = try messages.place(of: id, in: archive) else { return nil }
        guard archive.isOwn else { return try place(inRoomBefore: anchor.position, from: first) }
        if let near = try place(storedNear: id, from: first) { return near }
        guard let row = try messages.rows(of: id, in: .own).min() else { return nil }
        return try place(before: anchor.position, storedBefore: row, from: first)
    }

    private func place(storedNear id: String, from first: Int64) throws -> (id: String, position: Int64)? {
        try database.statement(
            """
            -- Numbers of rows are left out when a process takes over: fifty rows before and after.
            SELECT m.stanza_id, m.position FROM message a JOIN message m NOT INDEXED ON m.id BETWEEN
                coalesce((SELECT id FROM message WHERE id < a.id ORDER BY id DESC LIMIT 1 OFFSET 49), 0) AND
                coalesce((SELECT id FROM message WHERE id > a.id ORDER BY id LIMIT 1 OFFSET 49), 9223372036854775807)
            WHERE a.account = ?1 AND a.archive = ?2 AND a.stanza_id = ?3 AND m.account = ?1 AND m.archive = ?2
                AND m.stanza_id IS NOT NULL AND m.catchup > 0 AND m.position < a.position AND m.position >= ?4
            ORDER BY m.position DESC LIMIT 1
            """
        ).first([.integer(account), .text(archive.key), .text(id), .integer(first)], Self.read)
    }

    /// The last stored of the 10,000 messages stored before `row`, of which others may be a room's.
    private func place(
        before position: Int64, storedBefore row: Int64, from first: Int64
    ) throws -> (id: String, position: Int64)? {
        try database.statement(
            """
            SELECT stanza_id, position FROM (
                SELECT stanza_id, position, account, archive, catchup FROM message NOT INDEXED
                WHERE id < ?3 ORDER BY id DESC LIMIT 10000)
            WHERE account = ?1 AND archive = ?2 AND stanza_id IS NOT NULL AND catchup > 0 AND position < ?4
                AND position >= ?5
            LIMIT 1
            """
        ).first(
            [.integer(account), .text(archive.key), .integer(row), .integer(position), .integer(first)], Self.read)
    }

    /// The last message of a room's archive before the order number `position`.
    private func place(inRoomBefore position: Int64, from first: Int64) throws -> (id: String, position: Int64)? {
        try database.statement(
            """
            SELECT stanza_id, position FROM message
            WHERE account = ?1 AND conversation = ?2 AND shown = 1 AND archive = ?2 AND stanza_id IS NOT NULL
                AND catchup > 0 AND position < ?3 AND position >= ?4
            ORDER BY position DESC LIMIT 1
            """
        ).first([.integer(account), .text(archive.key), .integer(position), .integer(first)], Self.read)
    }

    private static func read(_ row: Row) -> (id: String, position: Int64) {
        (row.text("stanza_id"), row.integer("position"))
    }
}
