import KalijCore
import KalijStore
import KalijText
import KalijXML

/// The stored state of catch-up. A round reads from a few messages before the newest range's end to the end of the archive.
package struct ArchiveSyncState {
    package enum Phase: String {
        case beforePresence = "before-presence"
        case afterPresence = "after-presence"
        case done
    }

    package let number: Int64
    package let phase: Phase
    /// The range to extend; nil: a new range.
    package var range: Int64?
    /// Whether the archive has no messages between the new range and the preceding one.
    package var isBottom: Bool
    let queryID: String?
    package let request: String?
    /// The open page begins after this message; nil: at `start`.
    let cursor: String?
    package let start: Int64?
    /// The last message of the previous page.
    package let reached: String?
    /// The order number of the last message returned in the round.
    package var placed: Int64
    /// The order number after which the round has found a new message.
    var changedBehind: Int64?
    /// How many messages the round has returned, and how many the open page.
    package var seen: Int64
    package var shown: Int64
    /// The first message of the round.
    package var first: (id: String, position: Int64, at: Int64?)?
    /// The last message, and the last message before it with another id.
    var lastID: String?
    package var lastAt: Int64?
    var previousID: String?
    /// The mean size of the archive's results in bytes; nil before the first.
    var resultBytes: Int64?
    /// Where the next round begins.
    var resumeCursor: SyncCursor

    package static func load(_ archive: Archive, of account: Int64, from database: Database) throws -> ArchiveSyncState?
    {
        try database.statement(
            """
            SELECT number, phase, range, bottom, query_id, request, cursor, start, reached, placed, changed_behind, seen,
                shown, first_id, first_position, first_at, last_id, last_at, previous_id, again_id, again_next,
                again_at, again_seen, again_position, quiet_until, result_bytes
            FROM catchup WHERE account = ? AND archive = ?
            """
        ).first([.integer(account), .text(archive.key)], ArchiveSyncState.init)
    }

    private init(_ row: Row) {
        number = row.integer("number")
        phase = Phase(rawValue: row.text("phase")) ?? .done
        range = row.optionalInteger("range")
        isBottom = row.bool("bottom")
        queryID = row.optionalText("query_id")
        request = row.optionalText("request")
        cursor = row.optionalText("cursor")
        start = row.optionalInteger("start")
        reached = row.optionalText("reached")
        placed = row.integer("placed")
        changedBehind = row.optionalInteger("changed_behind")
        seen = row.integer("seen")
        shown = row.integer("shown")
        if let id = row.optionalText("first_id") {
            first = (id, row.integer("first_position"), row.optionalInteger("first_at"))
        }
        lastID = row.optionalText("last_id")
        lastAt = row.optionalInteger("last_at")
        previousID = row.optionalText("previous_id")
        resultBytes = row.optionalInteger("result_bytes")
        resumeCursor = SyncCursor(row)
    }

    /// Records a result and the order number of its message; nil if the message is not kept.
    mutating func show(_ archived: ArchivedMessage, position: Int64?, isMoved: Bool) {
        resumeCursor.complete(end, before: archived)
        shown &+= 1
        resultBytes = PageSize.mean(resultBytes, with: TreeSize.bytes(around: archived.message))
        if archived.id.exact != lastID?.exact { (previousID, lastID) = (lastID, archived.id) }
        lastAt = archived.at ?? lastAt
        guard let position else { return }
        if isMoved { changedBehind = changedBehind ?? placed }
        placed = position
        if first == nil { first = (archived.id, position, archived.at) }
        seen &+= 1
        resumeCursor.show(archived.id, end)
    }

    /// The progress of the round.
    var end: SyncCursor.End { SyncCursor.End(id: lastID, at: lastAt, position: placed, seen: seen) }

    func save(_ archive: Archive, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE catchup SET range = ?, bottom = ?, placed = ?, changed_behind = ?, seen = ?, shown = ?, first_id = ?,
                first_position = ?, first_at = ?, last_id = ?, last_at = ?, previous_id = ?, again_id = ?, again_next = ?,
                again_at = ?, again_seen = ?, again_position = ?, quiet_until = ?, result_bytes = ?
            WHERE account = ? AND archive = ?
            """,
            [
                .optional(range), .integer(isBottom ? 1 : 0), .integer(placed), .optional(changedBehind),
                .integer(seen),
                .integer(shown), .optional(first?.id), .optional(first?.position), .optional(first?.at),
                .optional(lastID), .optional(lastAt), .optional(previousID), .optional(resumeCursor.id),
                .optional(resumeCursor.next),
                .optional(resumeCursor.at), .integer(resumeCursor.seen), .optional(resumeCursor.position),
                .optional(resumeCursor.quietUntil),
                .optional(resultBytes),
                .integer(account), .text(archive.key),
            ])
    }

    /// Where the page after a page that ended with `last` begins: at the message before `last`, because some servers assign the same
    /// id to several messages, and page over all of them (measured: ejabberd 23.01).
    package func next(behind last: String) -> String {
        shown >= 4 && lastID?.exact == last.exact ? previousID ?? last : last
    }
}
