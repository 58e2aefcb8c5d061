import KalijSteps
import KalijStore

/// The stored state of catch-up. A round reads from a few messages before the newest range's end to the end of the
/// archive.
package struct Round {
    package enum Phase: String {
        case beforePresence = "before-presence"
        case afterPresence = "after-presence"
        case done
    }

    package let number: Int64
    package let phase: Phase
    /// The range to extend; nil: a new range.
    package var range: Int64?
    /// Whether the archive has nothing between the new range and the one before.
    package var isBottom: Bool
    let queryID: String?
    package let request: String?
    /// The open page begins after this message; nil: at `start`.
    let cursor: String?
    package let start: Int64?
    /// The last message of the previous page.
    package let reached: String?
    /// The order number of the last message shown by the round.
    package var placed: Int64
    /// The order number after which the round has found a new message.
    var changedBehind: Int64?
    /// How many messages the round has shown, and how many the open page.
    package var seen: Int64
    package var shown: Int64
    /// The first message of the round.
    package var first: (id: String, position: Int64, at: Int64?)?
    /// The last message, and the last message before it with another id.
    var lastID: String?
    package var lastAt: Int64?
    var previousID: String?
    /// Messages at a distance from the last message; the next round begins after the first of the two.
    var againID: String?
    var againNext: String?
    /// The archive's stamp of ``againNext``; nil if unknown. And how many messages the round had shown by then. A
    /// negative number n means that the two messages are pinned since the round had shown -n - 1 messages.
    var againAt: Int64?
    var againSeen: Int64

    /// How far a round begins before the end of the last round, at least: so many messages, and so many milliseconds by
    /// the archive's own stamps; or the larger number of messages, in a busy archive. (Measured: ejabberd 23.01 on a
    /// busy machine archived messages up to 1.1 s and 91 messages too late.)
    private static let overlap: Int64 = 20
    static let lateness: Int64 = 2000
    private static let longestOverlap: Int64 = 140
    /// A round forgets its interruption after so many more messages.
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

    /// The archive has shown `archived`, which now has this order number; nil if the message is not kept.
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

    /// The round was interrupted. The round goes on at its cursor. Messages archived late, before the cursor, are found
    /// by the next round, because that round begins as if this round had ended here.
    mutating func pin() {
        if !isPinned, againNext != nil { againSeen = -1 &- seen }
    }

    /// Whether no further message can have a place before ``againNext``.
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

    /// Where the page after a page that ended with `last` begins: at the message before `last`, because some servers
    /// give several messages the same id, and page over all of them (measured: ejabberd 23.01).
    package func next(behind last: String) -> String {
        shown >= 4 && lastID == last ? previousID ?? last : last
    }
}
