import KalijCore
import KalijAddress
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// Reads the end of an archive (XEP-0313), from the point of the last complete reading, in rounds.
///
/// Only a page extends a range (``ArchiveRanges``), never a message that is delivered live. Live messages since the last round, the
/// tail, are read once more from the archive. This second reading gives each message its place in the archive's order, and finds
/// messages that were archived and never delivered. The account's own archive is read
/// - after a bind: before presence is announced, so that missed messages (or the first 500 of them) are stored before anything live.
///   After presence the reading continues to the end, or is repeated for messages archived in between;
/// - after a resumption, because a server may drop unsent messages (measured: ejabberd 23.01, when connections follow one another
///   faster than the server takes them over);
/// - every 200 messages of the tail.
///
/// An interrupted round resumes at its cursor, in any process.
package struct ArchiveSync {
    package let step: Step
    package let archive: Archive
    package var database: Database { step.database }
    package var key: [Value] { [.integer(step.account.id), .text(archive.key)] }
    package var ranges: ArchiveRanges { ArchiveRanges(database: database, account: step.account.id, archive: archive) }

    package init(step: Step, archive: Archive = .own) {
        self.step = step
        self.archive = archive
    }

    /// The maximum number of messages read before presence is announced. If there are more, live messages are shown at once, and get
    /// their final places when the archive returns them.
    static let maxBeforePresence: Int64 = 500
    private static let day: Int64 = 24 * 3600 * 1000
    /// Reading by time begins this long before the lost cursor, in milliseconds.
    private static let slack: Int64 = 5 * 60 * 1000

    func round() throws -> ArchiveSyncState? { try ArchiveSyncState.load(archive, of: step.account.id, from: database) }

    // MARK: When

    /// The server time was determined, or will not be: begins the first reading, which may have waited for it.
    func serverTimeSettled() throws {
        guard try round() == nil, try !ServerFeatures(step: step).isAwaited else { return }
        try begin(hasArchive: try hasArchive)
    }

    /// Begins after a bind.
    /// - Parameter hasArchive: whether there is an archive to read.
    package func begin(hasArchive: Bool) throws {
        try newRound(.beforePresence)
        try DeliveryEvidence(step: step).begin()
        if hasArchive {
            if archive.isOwn, try queue.holding() == .bound { try ArchivePreferences(step: step).requestPreferences() }
            try requestPage()
        } else {
            try finish(problem: "the server has no archive")
        }
    }

    /// Continues after a resumption: repeats queries without a response, or reads messages since the last end.
    package func resume() throws {
        try forgetQuestions()
        guard let round = try round() else { return try serverTimeSettled() }
        guard try !ServerFeatures(step: step).isAwaited, try hasArchive else { return }
        if round.phase == .done, step.link.isSlow, !step.link.isBrief, try queue.holding() == .none {
            // The retransmitted messages are live messages: the reading of the tail waits until they are received
            // (`ArchiveSyncTrigger`).
            return
        }
        if round.phase == .done { try newRound(.afterPresence) } else { try rewind(round) }
        try requestPage()
    }

    /// Discards the queries of the previous connection, so that they are sent again: a response may have been lost with the
    /// connection. Queries that the server has not acknowledged are removed from the queue.
    func forgetQuestions() throws {
        for name in [ArchivePageResponse.name, BackfillPageResponse.name, ArchiveStartResponse.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
        try ConversationHistory.forgetQueries(step)
        let account = Value.integer(step.account.id)
        try database.run("UPDATE catchup SET query_id = NULL, request = NULL WHERE account = ?", [account])
        try database.run("UPDATE filling SET query_id = NULL, request = NULL WHERE account = ?", [account])
    }

    /// Reads messages since the last end, within the session; or repeats a failed reading.
    package func resync() throws {
        guard let round = try round(), try !isWaiting(round) else { return }
        if round.phase == .done { try newRound(.afterPresence) } else { try rewind(round) }
        try requestPage()
    }

    /// Reads a room's archive from the point of the last complete reading.
    /// - Parameters:
    ///   - trusted: whether the room's stanza-ids are the archive's ids.
    ///   - anchor: a message where the reading begins, if it is further back.
    func beginRoom(trusted: Bool, from anchor: String? = nil) throws {
        let isFirst = try round() == nil
        try newRound(.afterPresence, from: anchor)
        if isFirst { try Backfill(step: step, archive: archive).request(older: Backfill.firstPage, gaps: false) }
        try database.run(
            "UPDATE catchup SET trusted = ?3 WHERE account = ?1 AND archive = ?2", key + [.integer(trusted ? 1 : 0)])
        try requestPage()
    }

    /// The server does not respond: presence and held messages stop waiting. The cursor stays.
    package func unanswered(_ problem: String = "the server does not answer") throws {
        if archive.isOwn { step.retryArchive() }
        guard let round = try round(), round.phase != .done else { return }
        try completed(round, problem: problem)
    }

    /// The account's features were discovered, or will not be. They show whether there is an archive (XEP-0313 section 3), which is
    /// stored with the session. Support for an archive or for XEP-0359 also implies that the account's stanza-ids can be trusted.
    func didDiscover(_ answer: ServerAnswer) throws {
        switch answer {
        case .known(let info): try record(info)
        case .refused: break
        case .none(let problem):
            try newRound(.beforePresence)
            return try unanswered(problem)
        }
        // The first reading begins at a time in the server's clock.
        if try hasArchive, try round() == nil, try ServerTime(step: step).isAwaited { return }
        try begin(hasArchive: try hasArchive)
    }

    private var hasArchive: Bool {
        get throws { try SessionRow.load(step.account.id, from: database).archive }
    }

    private func record(_ info: DiscoveryInfo) throws {
        let hasArchive = info.supports("urn:xmpp:mam:2")
        let stamps = hasArchive || info.supports("urn:xmpp:sid:0")
        try SessionRow.set(archive: hasArchive, stamps: stamps, of: step.account.id, in: database)
        step.transaction.trustsArchive = stamps
    }

    private func isWaiting(_ round: ArchiveSyncState) throws -> Bool {
        let requests = Requests(step: step)
        if archive.isOwn, try ServerFeatures(step: step).isAwaited { return true }
        return try round.request.map { try requests.isWaiting(for: $0) } ?? false
    }

    // MARK: Rounds

    /// - Parameter anchor: a message of a room where the round begins, if it is further back.
    private func newRound(_ phase: ArchiveSyncState.Phase, from anchor: String? = nil) throws {
        let range = try ranges.newest()
        let unfinished = try moving()
        let anchor = try anchor ?? ownAnchor()
        let begin = try range.map { try self.begin($0, at: cursor($0, unfinished, anchor), anchor) }
        try database.run(
            """
            INSERT INTO catchup(account, archive, number, phase, since, range, cursor, start, placed, again_id, again_next,
                changed_behind, again_position, quiet_until)
            VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, coalesce(?8, CASE WHEN ?6 IS NULL THEN ?4 END), ?7, ?6, ?6, ?9,
                iif(?6 IS NULL, NULL, ?7), ?10)
            ON CONFLICT (account, archive) DO UPDATE SET number = number + (?9 IS NULL), phase = excluded.phase,
                range = excluded.range, bottom = excluded.range IS NULL AND since = 0, query_id = NULL,
                cursor = excluded.cursor, start = coalesce(?8, CASE WHEN excluded.cursor IS NULL THEN nullif(since, 0) END),
                reached = NULL, placed = excluded.placed,
                changed_behind = excluded.changed_behind, seen = 0, shown = 0, first_id = NULL, last_id = NULL,
                last_at = NULL, previous_id = NULL, again_id = excluded.again_id, again_next = excluded.again_next, again_at = NULL,
                again_seen = 0, again_position = excluded.again_position, quiet_until = excluded.quiet_until, problem = NULL
            """,
            key + [
                .state(phase), .integer(try since), .optional(range?.id),
                .optional(begin?.id), .integer(begin?.position ?? 0), .optional(begin?.start),
                .optional(unfinished?.changedBehind), .optional(try ArchiveHorizon.until(archive, range, in: step)),
            ])
    }

    /// Where the first reading begins, in the server's time: the account's days of history before the account was added; or, for a
    /// room, now, because backfill fetches a page of older history.
    private var since: Int64 {
        get throws {
            let time = ServerTime(step: step)
            guard archive.isOwn else { return try max(1, time.now) }
            return try max(1, min(time.since, time.now) - step.account.historyDays * Self.day)
        }
    }

    /// The state of a round that was interrupted while it moved messages. Messages not yet moved are in the wrong place until the
    /// archive returns them. So the next round continues that round: at the end of the last page that extended the range, or from the
    /// start if there was none. Order numbers determine the order only up to `changedBehind`.
    private func moving() throws -> (cursor: String?, changedBehind: Int64)? {
        guard let round = try round(), round.phase != .done, let changed = round.changedBehind else { return nil }
        return (round.reached == nil ? round.cursor : nil, changed)
    }

    /// Where a round begins. No round begins after the archive's first message. Some servers archive another message under the same id
    /// with a small delay, and page over both (simulation, seed 1143). Or a server that emptied its archive archives an earlier
    /// message late, and that message is then the first (simulation, seed 1002821). Such a round begins by time: the longest delay of
    /// an archive before the first message, but not before the start of the first reading.
    /// - Parameter anchor: a message that the round has to return.
    private func begin(
        _ range: ArchiveRange, at cursor: Cursor, _ anchor: String?
    ) throws -> (id: String?, position: Int64, start: Int64?) {
        guard cursor.id.exact == range.firstID.exact, range.isBottom || cursor.id.exact == anchor?.exact,
            let first = range.firstAt
        else {
            return (cursor.id, cursor.position, nil)
        }
        // Whether the archive has messages before the anchor may be undetermined. No id before the anchor is available then, so the
        // query begins at the anchor's stamp, which is rounded.
        let start = range.isBottom ? max(first - SyncCursor.lateness, min(first, try since)) : first - 1
        return (nil, range.firstPosition - 1, start)
    }

    private typealias Cursor = (id: String, position: Int64)

    /// Where a round begins that extends `range`: a few messages before its end. If sent messages wait for the archive, the round
    /// begins at the anchor of the first such message instead, if the anchor is further back (Rules.md, durability 6).
    private func cursor(
        _ range: ArchiveRange, _ unfinished: (cursor: String?, changedBehind: Int64)?, _ anchor: String?
    ) throws -> Cursor {
        let id = unfinished?.cursor ?? range.resumeID
        let known = id.exact == range.resumeID.exact ? range.resumePosition : nil
        let begin = (id: id, position: try ranges.place(of: id)?.position ?? known ?? range.lastPosition)
        guard let anchor, let place = try ranges.place(of: anchor),
            // Messages returned by the unfinished round have their places already.
            try place.position <= unfinished?.changedBehind ?? .max || place.catchup == round()?.number,
            // The anchor is to be returned again: that proves that the archive has not removed what follows it.
            place.position <= begin.position, place.position >= range.firstPosition
        else { return begin }
        // The archive may have lost the anchor.
        return try ranges.place(before: anchor, in: range) ?? (anchor, place.position)
    }

    /// The anchor of the first message that waits for the account's archive; nil if none waits. A message that was sent before
    /// anything was read has no anchor: then the newest range is read from its first message, so that the anchors of later messages
    /// are returned, too.
    private func ownAnchor() throws -> String? {
        guard archive.isOwn, try queue.holding() != .none, let first = try queue.firstSent() else { return nil }
        return try first.anchor ?? ranges.newest()?.firstID
    }

    /// Prepares the repetition of the open page: messages that the page has returned keep their places.
    private func rewind(_ round: ArchiveSyncState) throws {
        var (round, placed) = (round, Int64(0))
        if let cursor = round.cursor {
            let place = try ranges.place(of: cursor)
            let known = cursor == round.resumeCursor.id ? round.resumeCursor.position : nil
            placed = place?.position ?? known ?? round.placed
            (round.lastID, round.lastAt) = (nil, place?.at)
        } else {
            placed = round.isBottom ? (round.first?.position ?? 1) - 1 : 0
            (round.seen, round.first) = (0, nil)
            (round.lastID, round.lastAt) = (nil, nil)
        }
        round.placed = min(placed, round.placed)
        round.resumeCursor.pin(round.end)
        try round.save(archive, of: step.account.id, in: database)
    }

    /// The archive has lost the cursor's message (XEP-0313 section 4.3): the round continues by time, in the archive's own stamps.
    func continueByTime(_ round: ArchiveSyncState) throws {
        let lost = try round.cursor.flatMap { try ranges.place(of: $0)?.at }
        let range = try round.range.flatMap { try ranges.range($0) }
        let end = [lost, range?.lastAt].compactMap { $0 }.min().map { $0 - Self.slack }
        let start = end.map { max($0, range?.firstAt ?? $0) }
        try database.run(
            """
            UPDATE catchup SET cursor = NULL, start = coalesce(?3, since), reached = NULL, seen = 0, first_id = NULL,
                last_id = NULL, last_at = NULL
            WHERE account = ?1 AND archive = ?2
            """, key + [.optional(start)])
        try requestPage()
    }

    func requestPage() throws {
        guard let round = try round() else { return }
        // One query at a time: the response to another query would move the cursor over messages that were not stored.
        if let request = round.request { try Requests(step: step).forget(id: request) }
        let question = ArchiveQuery(
            archive: archive, place: .after(round.cursor), start: round.cursor == nil ? round.start : nil,
            size: PageSize.results(over: step.link, of: round.resultBytes))
        let request = try step.send(
            question.element, then: ArchivePageResponse(query: question.id, room: archive.isOwn ? nil : archive.key),
            within: EngineLimits.archiveTimeout)
        try database.run(
            "UPDATE catchup SET query_id = ?3, request = ?4, shown = 0 WHERE account = ?1 AND archive = ?2",
            key + [.text(question.id), .text(request)])
    }

    // MARK: The end

    func completed(_ round: ArchiveSyncState, problem: String? = nil) throws {
        if round.phase == .beforePresence {
            try announcePresence()
            if problem == nil { return try requestPage() }
        }
        try settleOrder(round)
        try finish(problem: problem)
    }

    /// The archive cannot respond now (error type `wait`): the query is repeated later.
    func postponed(_ round: ArchiveSyncState, problem: String) throws {
        // The rooms feature retries. The reading is finished, because a process started by a push waits for all open readings.
        guard archive.isOwn else { return try finish(problem: problem) }
        try database.run(
            """
            UPDATE catchup SET phase = ?3, query_id = NULL, request = NULL, problem = ?4
            WHERE account = ?1 AND archive = ?2
            """, key + [.state(ArchiveSyncState.Phase.afterPresence), .text(problem)])
        try step.announcePresence()
        emit(problem: problem)
        // Messages of a lost session stay held, because only the archive can determine their outcome.
        if try queue.holding() == .resumed { try release(problem: problem) }
        step.retryArchive()
    }

    /// Moves all messages that the archive has not returned to the end, from the first change on: messages received in the meantime,
    /// unsent messages, messages that were never archived. Without a change all messages keep their places; so they do if there are
    /// more than a step can move.
    private func settleOrder(_ round: ArchiveSyncState) throws {
        guard let changed = round.changedBehind else { return }
        let rows = try MessageReader(database: database, account: step.account.id)
            .unshown(by: round.number, of: archive, after: changed)
        guard rows.count <= MessageReader.maxUnshown else { return }
        for row in rows { try MessageWriter(step: step).move(row, to: try step.nextPosition()) }
    }

    /// Announces presence; messages read from here on may have been archived before or after the presence.
    func announcePresence() throws {
        try database.run(
            "UPDATE catchup SET phase = ?3 WHERE account = ?1 AND archive = ?2",
            key + [.state(ArchiveSyncState.Phase.afterPresence)])
        if archive.isOwn { try step.announcePresence() }
    }

    /// Whether presence waits for the reading of the account's archive.
    var holdsPresence: Bool {
        get throws {
            guard let round = try round() else { return true }
            return try ServerFeatures(step: step).isAwaited || round.phase == .beforePresence
        }
    }

    private func finish(problem: String?) throws {
        try database.run(
            """
            UPDATE catchup SET phase = ?3, query_id = NULL, request = NULL, problem = ?4,
                read_at = iif(?4 IS NULL, ?5, read_at)
            WHERE account = ?1 AND archive = ?2
            """, key + [.state(ArchiveSyncState.Phase.done), .optional(problem), .integer(step.steady.now)])
        if archive.isOwn { try step.announcePresence() }
        emit(problem: problem)
        if archive.isOwn { try release(problem: problem) }
        if archive.isOwn, problem == nil {
            for observer in step.hooks.archiveObservers { try observer.didSyncArchive(in: step) }
        }
        if let room = archive.recipient {
            for observer in step.hooks.archiveObservers {
                try observer.didSyncRoomArchive(room, problem: problem, in: step)
            }
        }
        if problem == nil { try ArchiveStart(step: step, archive: archive).findOut() }
        try Backfill.resume(step)
        if archive.isOwn { try ConversationHistory.resume(step) }
    }

    private func emit(problem: String?) {
        if let room = archive.recipient {
            step.emit(RoomRead(room: room, problem: problem))
        } else {
            step.emit(CaughtUp(problem: problem))
        }
    }

    /// The preferences were received, or will not be. Held messages are released if the archive has been read to its end; otherwise
    /// the reading releases them.
    func didReceivePreferences() throws {
        if try round()?.phase == .done { try release(problem: nil) }
    }

    package var queue: OutboundQueue { OutboundQueue(database: database, account: step.account.id) }

    /// Releases messages that waited for the archive, unless the archive has shown that they arrived.
    private func release(problem: String?) throws {
        if try queue.holding() == .bound {
            // The query never left over this connection: the messages wait for the reading of the next connection.
            if step.isForUnsent { return }
            if problem != nil {
                try UnknownOutcomes(step: step).reportAll()
            } else if try ArchivePreferences(step: step).isAwaited {
                return
            } else {
                try UnknownOutcomes(step: step).report(try DeliveryEvidence(step: step).unknown())
            }
        }
        guard try queue.release() else { return }
        step.flush()
        // The messages get their places after those received while they were held.
        step.retryArchive()
    }
}
