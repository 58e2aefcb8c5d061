import KalijSteps
import KalijStore

/// How far the reading of an archive's end has come, as it is stored: a round goes from a few messages before the newest
/// range's end to the end of the archive.
package struct Round {
    package enum Phase: String {
        case beforePresence = "before-presence"
        case afterPresence = "after-presence"
        case done
    }

    package let number: Int64
    package let phase: Phase
    /// The range that it extends; nil: a new one.
    package var range: Int64?
    /// Whether the archive has nothing between the new range and the one before.
    package var isBottom: Bool
    let queryID: String?
    package let request: String?
    /// The message behind which the open page begins, or the time at which it does.
    let cursor: String?
    package let start: Int64?
    /// The last message of the page before.
    package let reached: String?
    /// The order number of the last message that it has shown.
    package var placed: Int64
    /// The order number behind which it has found something that was not there.
    var changedBehind: Int64?
    /// How many messages it has shown, and how many the open page.
    package var seen: Int64
    package var shown: Int64
    /// The first message that it has shown.
    package var first: (id: String, position: Int64, at: Int64?)?
    /// The last one, and the one before it that has another id.
    var lastID: String?
    package var lastAt: Int64?
    var previousID: String?
    /// Messages at a distance from the last one; the next round begins behind the first of them.
    var againID: String?
    var againNext: String?
    /// The archive's stamp of ``againNext``; nil if it is not known. And how many messages the round had shown by then;
    /// negative if the two are pinned since it had shown so many, less one.
    var againAt: Int64?
    var againSeen: Int64

    /// How far a round begins before the end of the last one, at least: so many messages, and so many milliseconds by the
    /// archive's own stamps; or, if it is full, the larger number of messages. (Measured: ejabberd 23.01 on a busy machine
    /// wrote messages into its archive up to 1.1 s and 91 messages too late.)
    private static let overlap: Int64 = 20
    static let lateness: Int64 = 2000
    private static let longestOverlap: Int64 = 140
    /// How many messages more a round may show until it forgets that it was interrupted.
    private static let longestPin: Int64 = 300

    package static func load(_ archive: Archive, of account: Int64, from database: Database) throws -> Round? {
        try database.statement(
            """
            SELECT number, phase, range, bottom, query_id, request, cursor, start, reached, placed, changed_behind, seen,
                shown, first_id, first_position, first_at, last_id, last_at, previous_id, again_id, again_next,
                again_at, again_seen
            FROM catchup WHERE account = ? AND archive = ?
            """
        ).first([.integer(account), .text(archive.key)], Round.init)
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
        againID = row.optionalText("again_id")
        againNext = row.optionalText("again_next")
        againAt = row.optionalInteger("again_at")
        againSeen = row.integer("again_seen")
    }

    /// The archive has shown `archived`, which now has that order number; nil if it was nothing to keep.
    mutating func show(_ archived: ArchivedMessage, position: Int64?, isMoved: Bool) {
        shown &+= 1
        if archived.id != lastID { (previousID, lastID) = (lastID, archived.id) }
        lastAt = archived.at ?? lastAt
        guard let position else { return }
        if isMoved { changedBehind = changedBehind ?? placed }
        placed = position
        if first == nil { first = (archived.id, position, archived.at) }
        seen &+= 1
        if againNext == nil || (seen % Self.overlap == 0 && isFarFromNext) {
            (againID, againNext) = ((isPinned ? againID : againNext) ?? archived.id, archived.id)
            (againAt, againSeen) = (lastAt, seen)
        }
    }

    private var isPinned: Bool { againSeen < 0 }

    /// The round was interrupted: it goes on at its cursor, and what was written before that meanwhile is found by the next
    /// round, which begins where it would if this one had ended here.
    mutating func pin() {
        if !isPinned, againNext != nil { againSeen = -1 &- seen }
    }

    /// Whether nothing more can come whose place is before ``againNext``.
    private var isFarFromNext: Bool {
        if isPinned { return seen &+ againSeen &+ 1 >= Self.longestPin }
        guard let againAt, let lastAt, seen &- againSeen < Self.longestOverlap else { return true }
        return lastAt.subtractingReportingOverflow(againAt).partialValue >= Self.lateness
    }

    func save(_ archive: Archive, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE catchup SET range = ?, bottom = ?, placed = ?, changed_behind = ?, seen = ?, shown = ?, first_id = ?,
                first_position = ?, first_at = ?, last_id = ?, last_at = ?, previous_id = ?, again_id = ?, again_next = ?,
                again_at = ?, again_seen = ?
            WHERE account = ? AND archive = ?
            """,
            [
                .optional(range), .integer(isBottom ? 1 : 0), .integer(placed), .optional(changedBehind),
                .integer(seen),
                .integer(shown), .optional(first?.id), .optional(first?.position), .optional(first?.at),
                .optional(lastID), .optional(lastAt), .optional(previousID), .optional(againID), .optional(againNext),
                .optional(againAt), .integer(againSeen), .integer(account), .text(archive.key),
            ])
    }

    /// Where the next page begins behind one that ended with `last`: at the message before it, because some servers give
    /// several messages the same id, and begin behind all of them (measured: ejabberd 23.01).
    package func next(behind last: String) -> String {
        shown >= 4 && lastID == last ? previousID ?? last : last
    }
}
