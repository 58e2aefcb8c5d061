import KalijCore
import KalijStore
import KalijText

/// The stored state of a backfill in progress; there is none once the backfill has ended.
struct BackfillRow {
    /// Whether gaps between ranges are to be filled.
    let fillsGaps: Bool
    /// How many messages from before the first range are still requested.
    package let remaining: Int64
    /// How many messages the backfill has stored.
    package var stored: Int64
    /// The range to extend backwards; nil: a new range.
    package let range: Int64?
    let queryID: String?
    package let request: String?
    /// The message before which the open page ends; nil: the page ends with the archive, or at a time.
    let cursor: String?
    /// The order number of the page's first message.
    package let base: Int64
    /// How many messages the page has returned, and how many of them were in no range before.
    package var shown: Int64
    package var placed: Int64
    package var first: (id: String, at: Int64?)?
    var secondID: String?
    package var last: (id: String, at: Int64?)?
    /// The older range that the page has reached.
    var met: Int64?

    package static func load(_ archive: Archive, of account: Int64, from database: Database) throws -> BackfillRow? {
        try database.statement(
            """
            SELECT gaps, wanted, stored, range, query_id, request, cursor, base, shown, placed, first_id, first_at,
                second_id, last_id, last_at, met
            FROM filling WHERE account = ? AND archive = ? AND outcome IS NULL
            """
        ).first([.integer(account), .text(archive.key)], BackfillRow.init)
    }

    private init(_ row: Row) {
        fillsGaps = row.bool("gaps")
        remaining = row.integer("wanted")
        stored = row.integer("stored")
        range = row.optionalInteger("range")
        queryID = row.optionalText("query_id")
        request = row.optionalText("request")
        cursor = row.optionalText("cursor")
        base = row.integer("base")
        shown = row.integer("shown")
        placed = row.integer("placed")
        if let id = row.optionalText("first_id") { first = (id, row.optionalInteger("first_at")) }
        secondID = row.optionalText("second_id")
        if let id = row.optionalText("last_id") { last = (id, row.optionalInteger("last_at")) }
        met = row.optionalInteger("met")
    }

    /// Records a result.
    package mutating func show(_ archived: ArchivedMessage) {
        shown &+= 1
        if let first {
            if secondID == nil, first.id.exact != archived.id.exact { secondID = archived.id }
        } else {
            first = (archived.id, archived.at)
        }
        last = (archived.id, archived.at)
    }

    func save(_ archive: Archive, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE filling SET stored = ?, shown = ?, placed = ?, first_id = ?, first_at = ?, second_id = ?, last_id = ?,
                last_at = ?, met = ?
            WHERE account = ? AND archive = ?
            """,
            [
                .integer(stored), .integer(shown), .integer(placed), .optional(first?.id), .optional(first?.at),
                .optional(secondID), .optional(last?.id), .optional(last?.at), .optional(met), .integer(account),
                .text(archive.key),
            ])
    }
}
