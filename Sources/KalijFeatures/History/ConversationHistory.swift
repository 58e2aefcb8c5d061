import KalijAddress
import KalijCore
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// Older history of one conversation from the account's own archive (XEP-0313 section 4.1.1, `with`), read backwards, by pages. Of a room,
/// the room's own archive is read (``Backfill``).
///
/// A page begins before the first range, where nothing of the conversation is stored; its messages get order numbers before those of all
/// ranges. A backfill of the whole archive that returns them later moves them to their places in the range.
struct ConversationHistory {
    let step: Step
    /// A bare address, or an occupant's full address.
    let conversation: String
    private var database: Database { step.database }
    private var key: [Value] { [.integer(step.account.id), .text(conversation)] }
    private var ranges: ArchiveRanges {
        ArchiveRanges(database: database, account: step.account.id, archive: .own)
    }

    /// The order number before which these messages are placed: a backfill of the archive, at most a thousand numbers a page, does not
    /// reach it.
    static let end: Int64 = -(1 << 48)
    /// The maximum number of results in a page. A server that sends more results than requested is not trusted.
    static let maxPageSize: Int64 = 1000
    /// The maximum number of pages of a request: an archive may name pages without end that contain no message of the conversation.
    private static let maxPages: Int64 = 20

    private func row() throws -> ConversationHistoryRow? {
        try ConversationHistoryRow.load(conversation, of: step.account.id, from: database)
    }

    // MARK: When

    /// Requests `older` messages before the oldest one read. A request in progress is extended.
    func request(older: Int) throws {
        try database.run(
            """
            INSERT INTO conversation_history(account, conversation, wanted, position) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (account, conversation) DO UPDATE SET
                wanted = iif(outcome IS NULL, max(wanted, excluded.wanted), excluded.wanted),
                stored = iif(outcome IS NULL, stored, 0), pages = iif(outcome IS NULL, pages, 0), outcome = NULL
            """, key + [.integer(Int64(older)), .integer(Self.end)])
        try resume()
    }

    /// Continues all readings, after the end of the archive was read.
    static func resume(_ step: Step) throws {
        let conversations = try step.database.statement(
            "SELECT conversation FROM conversation_history WHERE account = ? AND outcome IS NULL"
        ).all([.integer(step.account.id)]) { $0.text() }
        for conversation in conversations { try ConversationHistory(step: step, conversation: conversation).resume() }
    }

    /// Discards the queries of the previous connection.
    static func forgetQueries(_ step: Step) throws {
        try Requests(step: step).forget(ConversationPageResponse.name, unqueueing: true)
        try step.database.run(
            "UPDATE conversation_history SET query_id = NULL WHERE account = ? AND outcome IS NULL",
            [.integer(step.account.id)])
    }

    private func resume() throws {
        guard let row = try row(), row.isInProgress, row.queryID == nil,
            try ArchiveSyncState.load(.own, of: step.account.id, from: database)?.phase == .done
        else { return }
        guard try SessionRow.load(step.account.id, from: database).archive else {
            return try finish(row, problem: "the server has no archive")
        }
        let first = try ranges.all().last
        let since = try since()
        if row.isComplete || first?.isBottom ?? (since == 0) {
            try database.run(
                "UPDATE conversation_history SET complete = 1 WHERE account = ? AND conversation = ?", key)
            return try finish(row, problem: nil)
        }
        if row.remaining <= 0 || row.pages >= Self.maxPages { return try finish(row, problem: nil) }
        let cursor = try cursor(row, first)
        // Before the first range there is only the start of the first reading: what is newer is new to the next reading.
        try requestPage(row, before: cursor, until: cursor == nil ? since : nil)
    }

    /// When the first reading of the archive starts, in milliseconds since 1970; 0 for the archive's begin.
    private func since() throws -> Int64? {
        try database.statement("SELECT since FROM catchup WHERE account = ? AND archive = ?")
            .first([.integer(step.account.id), .text(Archive.own.key)]) { $0.integer() }
    }

    /// Where the next page ends: before the oldest message of the conversation, which a backfill may have read meanwhile.
    private func cursor(_ row: ConversationHistoryRow, _ first: ArchiveRange?) throws -> String? {
        guard let first, let id = row.beforeID else { return row.beforeID ?? first?.firstID }
        guard let place = try ranges.place(of: id), place.position >= first.firstPosition else { return id }
        return first.firstID
    }

    // MARK: Pages

    /// Queries for the page before the message `cursor`, or before the time `stop`.
    private func requestPage(_ row: ConversationHistoryRow, before cursor: String?, until stop: Int64? = nil) throws {
        let bytes = try ArchiveSyncState.load(.own, of: step.account.id, from: database)?.resultBytes
        let query = ArchiveQuery(
            archive: .own, with: conversation, place: .before(stop == nil ? cursor : nil), end: stop,
            size: PageSize.results(over: step.link, of: bytes))
        try step.send(
            query.element, then: ConversationPageResponse(conversation: conversation, query: query.id),
            within: EngineLimits.archiveTimeout)
        try database.run(
            """
            UPDATE conversation_history SET query_id = ?3, cursor = ?4, shown = 0, placed = 0, first_id = NULL,
                second_id = NULL, pages = pages + 1
            WHERE account = ?1 AND conversation = ?2
            """, key + [.text(query.id), .optional(stop == nil ? cursor : nil)])
    }

    /// Stores results of the page `query`.
    /// - Returns: false if the results belong to another page.
    static func store(_ results: [ArchivedMessage], query: String, in step: Step) throws -> Bool {
        let conversation = try ConversationHistoryRow.conversation(of: query, step.account.id, in: step.database)
        guard let conversation else { return false }
        let history = ConversationHistory(step: step, conversation: conversation)
        guard var row = try history.row() else { return false }
        for result in results where row.shown < maxPageSize { try history.store(result, &row) }
        try row.save(conversation, of: step.account.id, in: step.database)
        return true
    }

    private func store(_ archived: ArchivedMessage, _ row: inout ConversationHistoryRow) throws {
        archived.mark(step)
        guard try !archived.isNewer(than: ranges.all().last, before: row.cursor) else { return row.show(archived) }
        let messages = MessageWriter(step: step)
        // The server may only return messages of the conversation; others have their places elsewhere.
        if let received = try IncomingPipeline(step: step).archived(archived, isOlder: true),
            received.conversation.exact == conversation.exact
        {
            let place = try messages.place(of: received)
            if try !isPlaced(place, row) {
                let number = try ArchiveSyncState.load(.own, of: step.account.id, from: database)?.number ?? 1
                let isNew = try messages.keep(received, place, at: row.base + row.shown, catchup: number)
                row.placed &+= 1
                if isNew { row.stored &+= 1 }
            }
        }
        row.show(archived)
    }

    /// Whether the message has its place in a range, or by an earlier page.
    private func isPlaced(_ place: MessageWriter.Place?, _ row: ConversationHistoryRow) throws -> Bool {
        guard let place, place.isConfirmed else { return false }
        if row.position <= place.position, place.position < Self.end { return true }
        return try ranges.range(holding: place.position) != nil
    }

    /// Handles the response to the query `queryID`.
    func page(_ iq: Element, of queryID: String) throws {
        guard let row = try row(), row.queryID?.exact == queryID.exact else { return }
        guard let page = ArchivePage(iq)?.filled(by: row) else { return try failed(iq, row) }
        guard row.shown < Self.maxPageSize else {
            return try finish(row, problem: "the server's archive shows more than it was asked for")
        }
        let first = page.first ?? row.first?.id
        // A twin of the first message, archived under the same id, would be left out.
        let next = row.shown >= 4 ? row.secondID ?? first : first
        try database.run(
            """
            UPDATE conversation_history SET query_id = NULL, before_id = coalesce(?3, before_id),
                first_at = coalesce(?4, first_at), position = iif(?5 > 0, ?6, position), wanted = max(0, wanted - ?5),
                complete = ?7
            WHERE account = ?1 AND conversation = ?2
            """,
            key + [
                .optional(next), .optional(row.first?.at), .integer(row.placed), .integer(row.base),
                .integer(page.isComplete ? 1 : 0),
            ])
        guard page.isComplete || row.placed > 0 else { return try readOn(row, before: first) }
        try resume()
    }

    /// A page without a message that was not stored: continues before its first result, if that is an earlier one.
    private func readOn(_ row: ConversationHistoryRow, before first: String?) throws {
        guard let first, first.exact != row.cursor?.exact, first.exact != row.pageFirst?.exact else {
            return try finish(row, problem: ArchivePage.noContinuation)
        }
        guard row.pages < Self.maxPages else { return try finish(row, problem: nil) }
        try database.run(
            "UPDATE conversation_history SET page_first = ?3 WHERE account = ?1 AND conversation = ?2",
            key + [.text(first)])
        try requestPage(row, before: first)
    }

    private func failed(_ iq: Element, _ row: ConversationHistoryRow) throws {
        // The archive has lost the cursor's message: the page ends at the time of the oldest message instead.
        if StanzaError(iq)?.condition == .itemNotFound, row.cursor != nil {
            if let at = try row.firstAt ?? ranges.all().last?.firstAt {
                return try requestPage(row, before: nil, until: at + 1000)
            }
        }
        try finish(row, problem: ArchivePage.refusal(iq))
    }

    /// The query has timed out: the reading ends, and the user may request it again.
    func unanswered(_ problem: String = "the server does not answer") throws {
        if let row = try row(), row.isInProgress { try finish(row, problem: problem) }
    }

    private func finish(_ row: ConversationHistoryRow, problem: String?) throws {
        try database.run(
            "UPDATE conversation_history SET outcome = ?3, query_id = NULL WHERE account = ?1 AND conversation = ?2",
            key + [.text(problem ?? "")])
        step.emit(
            HistoryFilled(
                room: nil, conversation: JID.received(conversation), messages: Int(row.stored), problem: problem))
    }
}
