import KalijCore
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// Backfill: reads requested older history, backwards. Gaps between ranges are filled first, the newest first, then messages before the
/// first range. Backfill begins after the end of the archive was read, and resumes after an interruption, in any process.
struct Backfill {
    /// How many messages from before the first reading are fetched for a room.
    static let firstPage = 50

    package let step: Step
    package let archive: Archive
    private var database: Database { step.database }
    private var key: [Value] { [.integer(step.account.id), .text(archive.key)] }
    private var ranges: ArchiveRanges {
        ArchiveRanges(database: database, account: step.account.id, archive: archive)
    }

    /// The maximum number of results in a page. A server that sends more results than requested is not trusted.
    private static let maxPageSize: Int64 = 1000

    private func row() throws -> BackfillRow? {
        try BackfillRow.load(archive, of: step.account.id, from: database)
    }

    // MARK: When

    /// Requests `older` messages before the first range, and with `gaps` the messages missing between ranges. Earlier requests remain
    /// in effect.
    package func request(older: Int, gaps: Bool) throws {
        try database.run(
            """
            INSERT INTO filling(account, archive, gaps, wanted) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (account, archive) DO UPDATE SET outcome = NULL,
                gaps = CASE WHEN outcome IS NULL THEN max(gaps, excluded.gaps) ELSE excluded.gaps END,
                wanted = CASE WHEN outcome IS NULL THEN max(wanted, excluded.wanted) ELSE excluded.wanted END,
                stored = CASE WHEN outcome IS NULL THEN stored ELSE 0 END
            """, key + [.integer(gaps ? 1 : 0), .integer(Int64(older))])
        try resume()
    }

    /// Continues the backfill of all archives that were read to their ends.
    static func resume(_ step: Step) throws {
        let archives = try step.database.statement("SELECT archive FROM filling WHERE account = ? AND outcome IS NULL")
            .all([.integer(step.account.id)]) { Archive(key: $0.text()) }
        for archive in archives { try Backfill(step: step, archive: archive).resume() }
    }

    private func resume() throws {
        guard let row = try row(), row.request == nil,
            try ArchiveSyncState.load(archive, of: step.account.id, from: database)?.phase == .done
        else { return }
        if archive.isOwn, try !SessionRow.load(step.account.id, from: database).archive {
            return try finish(row, problem: "the server has no archive")
        }
        let all = try ranges.all()
        let gap = row.fillsGaps ? zip(all, all.dropFirst()).first { newer, _ in !newer.isBottom } : nil
        if let (newer, older) = gap {
            try requestPage(row, newer, behind: older)
        } else if row.remaining > 0, all.last?.isBottom != true {
            try requestPage(row, all.last)
        } else {
            try finish(row, problem: nil)
        }
    }

    // MARK: Pages

    /// Queries for the page before `range`, or for the archive's last page. The page ends after the range `older`.
    private func requestPage(
        _ row: BackfillRow, _ range: ArchiveRange?, behind older: ArchiveRange? = nil, from cursor: String? = nil,
        until stop: Int64? = nil
    ) throws {
        let cursor = stop == nil ? cursor ?? range?.beforeID : nil
        // Messages older than the range before the gap must not get order numbers between the two ranges.
        let start = older?.lastAt.map { max($0 - 5 * 60 * 1000, older?.firstAt ?? $0) }
        let bytes = try ArchiveSyncState.load(archive, of: step.account.id, from: database)?.resultBytes
        let question = ArchiveQuery(
            archive: archive, place: .before(cursor), start: start, end: stop,
            size: PageSize.results(over: step.link, of: bytes))
        let request = try step.send(
            question.element, then: BackfillPageResponse(query: question.id, room: archive.isOwn ? nil : archive.key),
            within: EngineLimits.archiveTimeout)
        try database.run(
            """
            UPDATE filling SET range = ?3, query_id = ?4, request = ?5, cursor = ?6, stop = ?7, base = ?8, shown = 0,
                placed = 0, first_id = NULL, second_id = NULL, last_id = NULL, met = NULL
            WHERE account = ?1 AND archive = ?2
            """,
            key + [
                .optional(range?.id), .text(question.id), .text(request), .optional(cursor), .optional(stop),
                .integer((range?.firstPosition ?? 0) - Self.maxPageSize),
            ])
    }

    /// Stores results of the open page. Messages in a range keep their places, all others are placed before the range.
    /// - Returns: false if the results belong to another page.
    package func store(_ results: [ArchivedMessage], query: String) throws -> Bool {
        guard var row = try row(), row.queryID == query else { return false }
        for result in results where row.shown < Self.maxPageSize { try store(result, &row) }
        try row.save(archive, of: step.account.id, in: database)
        return true
    }

    private func store(_ archived: ArchivedMessage, _ row: inout BackfillRow) throws {
        archived.mark(step)
        guard try !archived.isNewer(than: row.range.flatMap { try ranges.range($0) }, before: row.cursor) else {
            return row.show(archived)
        }
        let messages = MessageWriter(step: step)
        if let received = try IncomingPipeline(step: step).archived(archived, isOlder: true) {
            let place = try messages.place(of: received)
            let holder = try place.flatMap { $0.isConfirmed ? try ranges.range(holding: $0.position) : nil }
            if let holder {
                if holder.id != row.range { row.met = holder.id }
            } else {
                let number = try ArchiveSyncState.load(archive, of: step.account.id, from: database)?.number ?? 1
                let isNew = try messages.keep(received, place, at: row.base + row.shown, catchup: number)
                row.placed &+= 1
                if isNew { row.stored &+= 1 }
            }
        }
        row.show(archived)
    }

    /// Handles the response to the query `queryID`; moves the beginning of the range.
    package func page(_ iq: Element, of queryID: String) throws {
        guard let row = try row(), row.queryID == queryID else { return }
        let range = try row.range.flatMap { try ranges.range($0) }
        guard let page = ArchivePage(iq)?.filled(by: row) else { return try failed(iq, row, range) }
        guard row.shown < Self.maxPageSize else {
            // Not all results were stored, so none extends the range.
            return try finish(row, problem: "the server's archive shows more than it was asked for")
        }
        let isOldest = try ranges.all().last?.id == range?.id
        let extended = try extend(row, range, page)
        if let id = range?.id, let newer = try ranges.range(id), let met = try row.met.flatMap({ try ranges.range($0) })
        {
            try ranges.merge(newer, into: met)
        } else if page.isComplete {
            guard let extended else { return try finish(row, problem: nil) }
            try ranges.markBottom(extended)
        } else if page.first == nil {
            return try finish(row, problem: ArchivePage.noContinuation)
        } else if row.placed == 0 {
            return try retryCloser(row, range)
        }
        try database.run(
            """
            UPDATE filling SET query_id = NULL, request = NULL, wanted = max(0, wanted - ?3)
            WHERE account = ?1 AND archive = ?2
            """, key + [.integer(isOldest ? row.placed : 0)])
        try resume()
    }

    /// The page is so small that it contained no messages from before the range: repeats the query closer to the range's first
    /// message.
    private func retryCloser(_ row: BackfillRow, _ range: ArchiveRange?) throws {
        guard let range, row.cursor?.exact == range.beforeID.exact, range.beforeID.exact != range.firstID.exact else {
            return try finish(row, problem: "the server's archive shows the same page again and again")
        }
        try requestPage(row, range, from: range.firstID)
    }

    /// Moves the beginning of the range to the first message of the page; adds a range if there is none.
    private func extend(_ row: BackfillRow, _ range: ArchiveRange?, _ page: ArchivePage) throws -> Int64? {
        guard row.placed > 0, let first = row.first, let last = row.last else {
            return range?.id
        }
        let begin = ArchiveRanges.End(
            id: page.first ?? first.id, position: row.base, at: first.at,
            from: row.shown >= 4 ? row.secondID ?? first.id : first.id)
        if let range {
            try ranges.extend(range.id, backTo: begin)
            return range.id
        }
        return try ranges.add(
            first: begin,
            last: .init(id: last.id, position: row.base + row.shown - 1, at: last.at, from: begin.id), isBottom: false)
    }

    private func failed(_ iq: Element, _ row: BackfillRow, _ range: ArchiveRange?) throws {
        let error = StanzaError(iq)
        // The archive has lost the range's first message: the page ends at the time of that message instead.
        if error?.condition == .itemNotFound, row.cursor != nil, let range, let at = range.firstAt {
            return try requestPage(row, range, until: at + 1000)
        }
        try finish(row, problem: ArchivePage.refusal(iq))
    }

    /// The query has timed out: the backfill ends, and the application has to request it again.
    package func unanswered(_ problem: String = "the server does not answer") throws {
        if let row = try row() { try finish(row, problem: problem) }
    }

    private func finish(_ row: BackfillRow, problem: String?) throws {
        try database.run(
            """
            UPDATE filling SET outcome = ?3, query_id = NULL, request = NULL WHERE account = ?1 AND archive = ?2
            """, key + [.text(problem ?? "")])
        step.emit(HistoryFilled(room: archive.recipient, messages: Int(row.stored), problem: problem))
    }
}
