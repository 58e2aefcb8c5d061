import KalijSteps
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// Reads the end of an archive (XEP-0313), from where it was read to its end, in rounds.
///
/// Only a page extends a range (``ArchiveRanges``), never a message that is delivered live: what came live since, the
/// tail, is read once more, which gives each message its place in the archive's order and finds what was archived and
/// never delivered. The account's own archive is read
/// - after a bind: once before presence is announced, so that what was missed is stored before anything live (or the first
///   500 messages of it), and on or once more afterwards, for what was archived in between;
/// - after a resume, because a server may drop what it had not sent (measured: ejabberd 23.01, when connections follow
///   one another faster than it takes them over);
/// - every 200 messages of the tail.
/// A round that is lost in the middle goes on at its cursor, in any process.
package struct CatchUp {
    package let step: Step
    package let archive: Archive
    package var database: Database { step.database }
    package var key: [Value] { [.integer(step.account.id), .text(archive.key)] }
    package var ranges: ArchiveRanges { ArchiveRanges(database: database, account: step.account.id, archive: archive) }

    package init(step: Step, archive: Archive = .own) {
        self.step = step
        self.archive = archive
    }

    /// How long an answer may take that presence and held messages wait for.
    package static let patience = Duration.seconds(120)
    /// How many messages are read before presence is announced; if there are more, what comes live meanwhile is shown at
    /// once and gets its place when the archive shows it.
    static let longestSilence: Int64 = 500
    private static let day: Int64 = 24 * 3600 * 1000
    /// How far before the time at which the archive lost its trace it is read, in milliseconds.
    private static let slack: Int64 = 5 * 60 * 1000

    func round() throws -> Round? { try Round.load(archive, of: step.account.id, from: database) }

    // MARK: When

    /// The server has said its time, or will not: the first reading may have waited for that.
    func serverTimeSettled() throws {
        guard try round() == nil, try !ServerFeatures(step: step).isAwaited else { return }
        try begin(hasArchive: try hasArchive)
    }

    /// Begins after a bind; `hasArchive` says whether there is something to read.
    package func begin(hasArchive: Bool) throws {
        try newRound(.beforePresence)
        try ArchiveEvidence(step: step).begin()
        if hasArchive {
            if archive.isOwn, try queue.holding() == .bound { try ArchivePreferences(step: step).ask() }
            try askPage()
        } else {
            try finish(problem: "the server has no archive")
        }
    }

    /// Goes on after a resume: asks again for what was asked and not answered, or reads what came since the last end.
    package func resume() throws {
        try forgetQuestions()
        guard let round = try round() else { return try serverTimeSettled() }
        guard try !ServerFeatures(step: step).isAwaited, try hasArchive else { return }
        if round.phase == .done { try newRound(.afterPresence) } else { try rewind(round) }
        try askPage()
    }

    /// Forgets what was asked of archives at the begin of a connection, to be asked anew: an answer may have been dropped
    /// with the one before. Questions that the server has not counted are not sent again.
    func forgetQuestions() throws {
        for name in [PageRead.name, PageFilled.name, BeginKnown.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
        let account = Value.integer(step.account.id)
        try database.run("UPDATE catchup SET query_id = NULL, request = NULL WHERE account = ?", [account])
        try database.run("UPDATE filling SET query_id = NULL, request = NULL WHERE account = ?", [account])
    }

    /// Reads what came since the last end, in a session that lasts; or tries again what the archive could not do.
    package func again() throws {
        guard let round = try round(), try !isWaiting(round) else { return }
        if round.phase == .done { try newRound(.afterPresence) } else { try rewind(round) }
        try askPage()
    }

    /// Reads a room's archive from where it was read to its end; `trusted` says whether the ids that the room stamps on
    /// messages are the archive's.
    func beginRoom(trusted: Bool) throws {
        try newRound(.afterPresence)
        try database.run(
            "UPDATE catchup SET trusted = ?3 WHERE account = ?1 AND archive = ?2", key + [.integer(trusted ? 1 : 0)])
        try askPage()
    }

    /// The server does not answer: presence and the messages that wait do not wait for ever. The cursor stays.
    package func unanswered(_ problem: String = "the server does not answer") throws {
        if archive.isOwn { step.tryArchiveAgain() }
        guard let round = try round(), round.phase != .done else { return }
        try completed(round, problem: problem)
    }

    /// What the account supports was found out. An answer shows whether there is an archive (XEP-0313 section 3), which is stored with
    /// the session, and whether the account's stanza-ids are to be trusted: an archive or XEP-0359 promises that.
    func serverKnown(_ answer: ServerAnswer) throws {
        switch answer {
        case .known(let info): try note(info)
        case .refused: break
        case .none(let problem):
            try newRound(.beforePresence)
            return try unanswered(problem)
        }
        // The first reading begins at a time of the server's.
        if try hasArchive, try round() == nil, try ServerTime(step: step).isAwaited { return }
        try begin(hasArchive: try hasArchive)
    }

    private var hasArchive: Bool {
        get throws { try SessionRow.load(step.account.id, from: database).archive }
    }

    private func note(_ info: DiscoveryInfo) throws {
        let hasArchive = info.supports("urn:xmpp:mam:2")
        let stamps = hasArchive || info.supports("urn:xmpp:sid:0")
        try database.run(
            "UPDATE session SET archive = ?, stamps = ? WHERE account = ?",
            [.integer(hasArchive ? 1 : 0), .integer(stamps ? 1 : 0), .integer(step.account.id)])
    }

    private func isWaiting(_ round: Round) throws -> Bool {
        let requests = Requests(step: step)
        if archive.isOwn, try ServerFeatures(step: step).isAwaited { return true }
        return try round.request.map { try requests.isWaiting(for: $0) } ?? false
    }

    // MARK: Rounds

    private func newRound(_ phase: Round.Phase) throws {
        let range = try ranges.newest()
        let unfinished = try moving()
        let begin = try range.map { try self.begin($0, at: cursor($0, unfinished)) }
        try database.run(
            """
            INSERT INTO catchup(account, archive, number, phase, since, range, cursor, start, placed, again_id, again_next,
                changed_behind)
            VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, coalesce(?8, CASE WHEN ?6 IS NULL THEN ?4 END), ?7, ?6, ?6, ?9)
            ON CONFLICT (account, archive) DO UPDATE SET number = number + (?9 IS NULL), phase = excluded.phase,
                range = excluded.range, bottom = excluded.range IS NULL AND since = 0, query_id = NULL,
                cursor = excluded.cursor, start = coalesce(?8, CASE WHEN excluded.cursor IS NULL THEN nullif(since, 0) END),
                reached = NULL, placed = excluded.placed,
                changed_behind = excluded.changed_behind, seen = 0, shown = 0, first_id = NULL, last_id = NULL,
                last_at = NULL, previous_id = NULL, again_id = excluded.again_id, again_next = excluded.again_next, again_at = NULL,
                again_seen = 0, problem = NULL
            """,
            key + [
                .text(phase.rawValue), .integer(try since), .optional(range?.id),
                .optional(begin?.id), .integer(begin?.position ?? 0), .optional(begin?.start),
                .optional(unfinished?.changedBehind),
            ])
    }

    /// Where the first reading begins, in the time of the server: so many days before the account came here, or, of a room, before
    /// now.
    private var since: Int64 {
        get throws {
            let time = ServerTime(step: step)
            let begin = try archive.isOwn ? min(time.since, time.now) : time.now
            return max(1, begin - step.account.historyDays * Self.day)
        }
    }

    /// A round that was broken off while it moved messages. What it had not moved is in the wrong place until it is shown:
    /// the next round is the same one, which goes on where the last page ended that it extended the range by, or begins
    /// again if there was none. Only up to `changedBehind` order numbers tell what is before what.
    private func moving() throws -> (cursor: String?, changedBehind: Int64)? {
        guard let round = try round(), round.phase != .done, let changed = round.changedBehind else { return nil }
        return (round.reached == nil ? round.cursor : nil, changed)
    }

    /// No round begins after the archive's first message. Some servers archive another message under the same id a little later,
    /// and page over both (simulation, seed 1143); or archive an earlier message later, which is the first one then, if the archive
    /// was emptied before (simulation, seed 1002821). Such a round begins by time: as long before the first message as an archive
    /// may be late, but not before the first reading began.
    private func begin(
        _ range: ArchiveRange, at cursor: Cursor
    ) throws -> (id: String?, position: Int64, start: Int64?) {
        guard cursor.id == range.firstID, range.isBottom, let first = range.firstAt else {
            return (cursor.id, cursor.position, nil)
        }
        return (nil, range.firstPosition - 1, max(first - Round.lateness, min(first, try since)))
    }

    private typealias Cursor = (id: String, position: Int64)

    /// Where a round begins that extends `range`: a few messages before its end. If messages that have left wait for
    /// the archive, the round begins at the first one's anchor instead, where the anchor is further back (Rules.md, durability 6).
    private func cursor(
        _ range: ArchiveRange, _ unfinished: (cursor: String?, changedBehind: Int64)?
    ) throws -> Cursor {
        let id = unfinished?.cursor ?? range.againID
        let begin = (id: id, position: try ranges.place(of: id)?.position ?? range.lastPosition)
        guard archive.isOwn, try queue.holding() != .none, let anchor = try queue.firstAnchor(),
            let place = try ranges.place(of: anchor),
            // What the unfinished round has shown has its place already.
            try place.position <= unfinished?.changedBehind ?? .max || place.catchup == round()?.number,
            place.position < begin.position, place.position >= range.firstPosition
        else { return begin }
        // That the archive has it still is to be seen.
        return try ranges.place(before: anchor, in: range) ?? (anchor, place.position)
    }

    /// The page that was open is asked for again: what it has shown is where it is.
    private func rewind(_ round: Round) throws {
        var (round, placed) = (round, Int64(0))
        if let cursor = round.cursor {
            placed = try ranges.place(of: cursor)?.position ?? round.placed
        } else {
            placed = round.isBottom ? (round.first?.position ?? 1) - 1 : 0
            (round.seen, round.first) = (0, nil)
        }
        round.placed = min(placed, round.placed)
        round.pin()
        try round.save(archive, of: step.account.id, in: database)
    }

    /// The archive has lost the message behind which the page was to begin (XEP-0313 section 4.3): goes by time, by the
    /// archive's own stamps.
    func goByTime(_ round: Round) throws {
        let lost = try round.cursor.flatMap { try ranges.place(of: $0)?.at }
        let range = try round.range.flatMap { try ranges.range($0) }
        let end = [lost, range?.lastAt].compactMap { $0 }.min().map { $0 - Self.slack }
        let start = end.map { max($0, range?.firstAt ?? $0) }
        try database.run(
            """
            UPDATE catchup SET cursor = NULL, start = coalesce(?3, since), reached = NULL, seen = 0, first_id = NULL
            WHERE account = ?1 AND archive = ?2
            """, key + [.optional(start)])
        try askPage()
    }

    func askPage() throws {
        guard let round = try round() else { return }
        // One question at a time: an answer to another one would move the cursor over what was not stored.
        if let request = round.request { try Requests(step: step).forget(id: request) }
        let question = ArchiveQuestion(
            archive: archive, place: .after(round.cursor), start: round.cursor == nil ? round.start : nil)
        let request = try step.send(
            question.element, then: PageRead(query: question.id, room: archive.isOwn ? nil : archive.key),
            within: Self.patience)
        try database.run(
            "UPDATE catchup SET query_id = ?3, request = ?4, shown = 0 WHERE account = ?1 AND archive = ?2",
            key + [.text(question.id), .text(request)])
    }

    // MARK: The end

    func completed(_ round: Round, problem: String? = nil) throws {
        if round.phase == .beforePresence {
            try goOnline()
            if problem == nil { return try askPage() }
        }
        try settleOrder(round)
        try finish(problem: problem)
    }

    /// The archive could not answer now: it is asked again in a while.
    func postponed(_ round: Round, problem: String) throws {
        try database.run(
            """
            UPDATE catchup SET phase = 'after-presence', query_id = NULL, request = NULL, problem = ?3
            WHERE account = ?1 AND archive = ?2
            """, key + [.text(problem)])
        if archive.isOwn { try step.announcePresence() }
        tell(problem: problem)
        guard archive.isOwn else { return }
        // A lost session's messages wait: only the archive can tell about them.
        if try queue.holding() == .resumed { try release(problem: problem) }
        step.tryArchiveAgain()
    }

    /// Moves what the archive has not shown behind what it has, from the first change on: what came meanwhile, what is
    /// still to be sent, what is not archived. Where nothing changed everything stays in its place.
    private func settleOrder(_ round: Round) throws {
        guard let changed = round.changedBehind else { return }
        let rows = try database.statement(
            """
            WITH RECURSIVE c(name) AS (SELECT min(conversation) FROM message WHERE account = ?1
                UNION ALL SELECT (SELECT min(conversation) FROM message WHERE account = ?1 AND conversation > name)
                    FROM c WHERE name IS NOT NULL)
            SELECT m.id FROM c CROSS JOIN message m INDEXED BY message_order
                ON m.account = ?1 AND m.conversation = c.name AND m.position > ?3
            WHERE m.archive = ?2 AND m.catchup < ?4 ORDER BY m.position
            """
        ).all(key + [.integer(changed), .integer(round.number)]) { $0.integer() }
        for row in rows {
            try database.run(
                "UPDATE message SET position = ? WHERE id = ?", [.integer(try step.nextPosition()), .integer(row)])
        }
    }

    /// Announces presence; what is read from here on was archived before it or after.
    func goOnline() throws {
        try database.run("UPDATE catchup SET phase = 'after-presence' WHERE account = ?1 AND archive = ?2", key)
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
            UPDATE catchup SET phase = 'done', query_id = NULL, request = NULL, problem = ?3
            WHERE account = ?1 AND archive = ?2
            """, key + [.optional(problem)])
        if archive.isOwn { try step.announcePresence() }
        tell(problem: problem)
        if archive.isOwn { try release(problem: problem) }
        if problem == nil { try ArchiveBegin(step: step, archive: archive).findOut() }
        try Filling.goOn(step)
    }

    private func tell(problem: String?) {
        if let room = archive.recipient {
            step.emit(RoomRead(room: room, problem: problem))
        } else {
            step.emit(CaughtUp(problem: problem))
        }
    }

    /// The archive was read to its end meanwhile, or is being read.
    func preferencesTold() throws {
        if try round()?.phase == .done { try release(problem: nil) }
    }

    package var queue: OutboundQueue { OutboundQueue(database: database, account: step.account.id) }

    /// Messages that waited for the archive leave, unless it has shown that they arrived.
    private func release(problem: String?) throws {
        if try queue.holding() == .bound {
            // The archive was not asked: it is asked over the next connection, and the messages wait for that.
            if step.isForUnsent { return }
            if problem != nil {
                try Unsettled(step: step).reportAll()
            } else if try ArchivePreferences(step: step).isAwaited {
                return
            } else {
                try Unsettled(step: step).report(try ArchiveEvidence(step: step).unknown())
            }
        }
        guard try queue.release() else { return }
        step.flush()
        // They get their places behind what came while they waited.
        step.tryArchiveAgain()
    }
}
