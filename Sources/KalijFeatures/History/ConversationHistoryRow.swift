import KalijCore
import KalijStore
import KalijText

/// The stored state of the older history of a conversation.
struct ConversationHistoryRow {
    /// How many messages are still requested.
    let remaining: Int64
    /// How many messages the request has stored, and how many pages it has read.
    var stored: Int64
    let pages: Int64
    /// Where the next page ends: before this message; nil: before the first range.
    let beforeID: String?
    /// The archive's stamp of the first message.
    let firstAt: Int64?
    /// The order number of the first page, which is before all others.
    let position: Int64
    let queryID: String?
    /// The message before which the open page ends; nil: the page ends at a time, or with the archive.
    let cursor: String?
    /// The first message of the page before, if that page had nothing new.
    let pageFirst: String?
    /// How many messages the page has returned, and how many of them got a place.
    var shown: Int64
    var placed: Int64
    var first: (id: String, at: Int64?)?
    var secondID: String?
    /// Whether the archive has no older messages of the conversation.
    let isComplete: Bool
    /// Why the reading has ended, empty if all was read; nil while it is in progress.
    let outcome: String?

    var isInProgress: Bool { outcome == nil }
    /// The order number of the page's first message.
    var base: Int64 { position - ConversationHistory.maxPageSize }

    static func load(
        _ conversation: String, of account: Int64, from database: Database
    ) throws -> ConversationHistoryRow? {
        try database.statement(
            """
            SELECT wanted, stored, pages, before_id, first_at, position, query_id, cursor, page_first, shown, placed,
                first_id, page_at, second_id, complete, outcome
            FROM conversation_history WHERE account = ? AND conversation = ?
            """
        ).first([.integer(account), .text(conversation)], ConversationHistoryRow.init)
    }

    /// The conversation of the open page `query`.
    static func conversation(of query: String, _ account: Int64, in database: Database) throws -> String? {
        try database.statement("SELECT conversation FROM conversation_history WHERE query_id = ? AND account = ?")
            .first([.text(query), .integer(account)]) { $0.text() }
    }

    private init(_ row: Row) {
        remaining = row.integer("wanted")
        stored = row.integer("stored")
        pages = row.integer("pages")
        beforeID = row.optionalText("before_id")
        firstAt = row.optionalInteger("first_at")
        position = row.integer("position")
        queryID = row.optionalText("query_id")
        cursor = row.optionalText("cursor")
        pageFirst = row.optionalText("page_first")
        shown = row.integer("shown")
        placed = row.integer("placed")
        if let id = row.optionalText("first_id") { first = (id, row.optionalInteger("page_at")) }
        secondID = row.optionalText("second_id")
        isComplete = row.bool("complete")
        outcome = row.optionalText("outcome")
    }

    /// Records a result.
    mutating func show(_ archived: ArchivedMessage) {
        shown &+= 1
        guard let first else { return self.first = (archived.id, archived.at) }
        if secondID == nil, first.id.exact != archived.id.exact { secondID = archived.id }
    }

    func save(_ conversation: String, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE conversation_history SET stored = ?, shown = ?, placed = ?, first_id = ?, page_at = ?, second_id = ?
            WHERE account = ? AND conversation = ?
            """,
            [
                .integer(stored), .integer(shown), .integer(placed), .optional(first?.id), .optional(first?.at),
                .optional(secondID), .integer(account), .text(conversation),
            ])
    }
}
