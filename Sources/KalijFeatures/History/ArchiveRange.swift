import KalijCore
import KalijStore

/// A part of an archive that was read without a gap.
package struct ArchiveRange {
    package let id: Int64
    let firstID: String
    package let firstPosition: Int64
    package let firstAt: Int64?
    /// The message where backwards reading begins.
    let beforeID: String
    package let lastPosition: Int64
    package let lastAt: Int64?
    /// The message where forward reading begins: a few messages before the last, because some servers archive messages with a small
    /// delay, at an earlier place (measured: ejabberd 23.01).
    let resumeID: String
    /// The order number of ``resumeID``, if it was available.
    let resumePosition: Int64?
    /// Whether the archive has no messages between this range and the preceding one.
    package let isBottom: Bool

    package init(_ row: Row) {
        id = row.integer("id")
        firstID = row.text("first_id")
        firstPosition = row.integer("first_position")
        firstAt = row.optionalInteger("first_at")
        beforeID = row.text("before_id")
        lastPosition = row.integer("last_position")
        lastAt = row.optionalInteger("last_at")
        resumeID = row.text("again_id")
        resumePosition = row.optionalInteger("again_position")
        isBottom = row.bool("bottom")
    }
}

/// The ranges of one archive. Only a page extends a range.
package struct ArchiveRanges {
    package let database: Database
    package let account: Int64
    package let archive: Archive

    package init(database: Database, account: Int64, archive: Archive) {
        self.database = database
        self.account = account
        self.archive = archive
    }
    private var values: [Value] { [.integer(account), .text(archive.key)] }
    private var messages: MessageReader { MessageReader(database: database, account: account) }

    /// The order numbers that are left free before a range that follows a gap.
    package static let room: Int64 = 1 << 24

    /// All ranges, newest first.
    package func all() throws -> [ArchiveRange] {
        try database.statement(
            """
            SELECT id, first_id, first_position, first_at, before_id, last_position, last_at, again_id,
                again_position, bottom
            FROM archive_range WHERE account = ? AND archive = ? ORDER BY last_position DESC
            """
        ).all(values, ArchiveRange.init)
    }

    /// The last message of the newest range; nil if nothing was read.
    package func end() throws -> (id: String, position: Int64)? {
        try database.statement(
            """
            SELECT last_id, last_position FROM archive_range WHERE account = ? AND archive = ?
            ORDER BY last_position DESC LIMIT 1
            """
        ).first(values) { ($0.text("last_id"), $0.integer("last_position")) }
    }

    package func newest() throws -> ArchiveRange? {
        try database.statement(
            """
            SELECT id, first_id, first_position, first_at, before_id, last_position, last_at, again_id,
                again_position, bottom
            FROM archive_range WHERE account = ? AND archive = ? ORDER BY last_position DESC LIMIT 1
            """
        ).first(values, ArchiveRange.init)
    }

    package func range(_ id: Int64) throws -> ArchiveRange? {
        try database.statement(
            """
            SELECT id, first_id, first_position, first_at, before_id, last_position, last_at, again_id,
                again_position, bottom
            FROM archive_range WHERE id = ?
            """
        ).first([.integer(id)], ArchiveRange.init)
    }

    /// The range that contains the order number `position`.
    package func range(holding position: Int64) throws -> ArchiveRange? {
        try database.statement(
            """
            SELECT id, first_id, first_position, first_at, before_id, last_position, last_at, again_id,
                again_position, bottom
            FROM archive_range WHERE account = ?1 AND archive = ?2 AND last_position >= ?3 AND first_position <= ?3
            ORDER BY last_position LIMIT 1
            """
        ).first(values + [.integer(position)], ArchiveRange.init)
    }

    /// The order number of the message with the archive's id `id`, the time of archiving, and the last round that has returned the
    /// message.
    package func place(of id: String) throws -> (position: Int64, at: Int64, catchup: Int64)? {
        try messages.place(of: id, in: archive)
    }

    /// A message before the message with the archive's id `id`; nil if there is none in `range`.
    package func place(before id: String, in range: ArchiveRange) throws -> (id: String, position: Int64)? {
        try EarlierMessage(database: database, account: account, archive: archive)
            .place(before: id, from: range.firstPosition)
    }

    /// One end of a range.
    struct End {
        package let id: String
        package let position: Int64
        package let at: Int64?
        /// The message where reading beyond this end begins.
        package let from: String
        /// The order number of ``from``, if it is available.
        var fromPosition: Int64?
    }

    func add(first: End, last: End, isBottom: Bool) throws -> Int64 {
        try database.run(
            """
            INSERT INTO archive_range(account, archive, first_id, first_position, first_at, before_id, last_id,
                last_position, last_at, again_id, again_position, bottom) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values + [
                .text(first.id), .integer(first.position), .optional(first.at), .text(first.from), .text(last.id),
                .integer(last.position), .optional(last.at), .text(last.from),
                .optional(last.fromPosition), .integer(isBottom ? 1 : 0),
            ])
        return database.lastInsertedRow
    }

    /// Moves the end of the range `id` forwards, never backwards.
    func extend(_ id: Int64, to last: End) throws {
        try database.run(
            """
            UPDATE archive_range SET last_id = ?2, last_position = ?3, last_at = coalesce(?4, last_at), again_id = ?5,
                again_position = ?6
            WHERE id = ?1 AND last_position <= ?3
            """,
            [
                .integer(id), .text(last.id), .integer(last.position), .optional(last.at), .text(last.from),
                .optional(last.fromPosition),
            ])
    }

    /// Moves the beginning of the range `id` backwards.
    func extend(_ id: Int64, backTo first: End) throws {
        try database.run(
            """
            UPDATE archive_range SET first_id = ?2, first_position = ?3, first_at = coalesce(?4, first_at), before_id = ?5
            WHERE id = ?1
            """,
            [.integer(id), .text(first.id), .integer(first.position), .optional(first.at), .text(first.from)])
    }

    /// Records that the archive has no messages between the range `id` and the preceding one.
    func markBottom(_ id: Int64) throws {
        try database.run("UPDATE archive_range SET bottom = 1 WHERE id = ?", [.integer(id)])
    }

    /// Removes the newest range except `new` if the reading that created `new` has returned the first message of that range again, at
    /// `position` or later. The reading then returns the rest of the removed range.
    /// - Returns: the removed range.
    package func remove(shownAgainFrom position: Int64, except new: Int64) throws -> ArchiveRange? {
        guard let range = try all().first(where: { $0.id != new }),
            let place = try place(of: range.firstID), place.position >= position
        else { return nil }
        try database.run("DELETE FROM archive_range WHERE id = ?", [.integer(range.id)])
        return range
    }

    /// Merges `newer`, which has reached `older`, and all ranges between them into one range.
    func merge(_ newer: ArchiveRange, into older: ArchiveRange) throws {
        try database.run(
            """
            UPDATE archive_range SET (last_id, last_position, last_at, again_id, again_position) =
                (SELECT last_id, last_position, last_at, again_id, again_position FROM archive_range WHERE id = ?2) WHERE id = ?1
            """, [.integer(older.id), .integer(newer.id)])
        try database.run(
            """
            DELETE FROM archive_range WHERE account = ?1 AND archive = ?2 AND id <> ?3
                AND last_position BETWEEN ?4 AND ?5
            """,
            values + [.integer(older.id), .integer(older.lastPosition), .integer(newer.lastPosition)])
        try database.run(
            "UPDATE catchup SET range = ?3 WHERE account = ?1 AND archive = ?2 AND range = ?4",
            values + [.integer(older.id), .integer(newer.id)])
    }
}

extension ArchivedMessage {
    /// Whether the archive's stamp precedes the first message of `range`, and the archive may have more messages there: backfill reads
    /// them.
    func isBefore(_ range: ArchiveRange) -> Bool {
        guard !range.isBottom, let first = range.firstAt, let at else { return false }
        return at < first
    }
}

extension ArchivedMessage {
    /// Whether the message was archived after the begin of the range: a page that ends at a time, and before no message, ends a little
    /// later than that. Such a message is no older one: it is in a range, or new to the next reading of the archive.
    /// - Parameter cursor: the message before which the page ends; nil for a page that ends at a time.
    func isNewer(than range: @autoclosure () throws -> ArchiveRange?, before cursor: String?) rethrows -> Bool {
        guard cursor == nil, let at, let first = try range()?.firstAt else { return false }
        return at > first
    }
}
