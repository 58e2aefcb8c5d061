import KalijCore
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// The processing of the archive's results and pages.
extension ArchiveSync {
    /// Stores results of the open page; false if the results belong to another page.
    func store(_ results: [ArchivedMessage], query: String) throws -> Bool {
        guard var round = try round(), round.queryID == query, round.phase != .done else { return false }
        let unstamped = try MessageWriter(step: step).areUnstamped()
        let isEvidence = try archive.isOwn && queue.holding() == .bound
        for result in results {
            let place = try store(result, &round, unstamped: unstamped)
            if isEvidence, let place { try DeliveryEvidence(step: step).shown(place) }
        }
        try round.save(archive, of: step.account.id, in: database)
        return true
    }

    /// - Returns: the previous place of the message, if the message was stored already.
    private func store(
        _ archived: ArchivedMessage, _ round: inout ArchiveSyncState, unstamped: Bool
    ) throws -> MessageWriter.Place? {
        archived.mark(step)
        let messages = MessageWriter(step: step)
        if round.seen == 0, round.start != nil, let range = try round.range.flatMap({ try ranges.range($0) }),
            archived.isBefore(range)
        {
            return nil
        }
        guard let received = try IncomingPipeline(step: step).archived(archived) else {
            round.show(archived, position: nil, isMoved: false)
            return nil
        }
        // The first result determines whether the range continues, and so the place of the message.
        let meets = round.seen == 0 && round.start != nil ? round.range : nil
        let next = try step.nextPosition()
        if meets == nil, try messages.storeNew(received, at: next, catchup: round.number, unstamped: unstamped) {
            round.show(archived, position: next, isMoved: true)
            return nil
        }
        let place = try messages.place(of: received)
        if DoubleDeliveries(step: step).isSecondCopy(received, place, after: round.placed) {
            round.show(archived, position: nil, isMoved: false)
            return place
        }
        if let meets { try meet(place, meets, &round) }
        let kept = place.flatMap { $0.position > round.placed ? $0.position : nil }
        let position = try kept ?? (meets == nil ? next : step.nextPosition())
        try messages.keep(received, place, at: position, catchup: round.number)
        round.show(archived, position: position, isMoved: kept == nil)
        return place
    }

    /// Handles the first result of a page requested by time, which happens if the archive has lost the cursor. If the result is in the
    /// range already, the page continues the range from there. Otherwise the range ends here: the archive has no messages left between
    /// the range and this page, and what was there cannot be determined.
    private func meet(_ place: MessageWriter.Place?, _ id: Int64, _ round: inout ArchiveSyncState) throws {
        guard let range = try ranges.range(id) else { return }
        if let place, place.isConfirmed, range.firstPosition <= place.position, place.position <= range.lastPosition {
            return round.placed = place.position - 1
        }
        (round.range, round.isBottom, round.changedBehind) = (nil, true, range.lastPosition)
        round.resumeCursor.forget()
        round.placed = try step.skipPositions(ArchiveRanges.room)
    }

    /// Handles the response to the query `queryID`: extends the range, moves the cursor, and requests the next page.
    package func page(_ iq: Element, of queryID: String) throws {
        guard var round = try round(), round.phase != .done, round.queryID == queryID else { return }
        guard let page = ArchivePage(iq)?.filled(by: round) else { return try failed(iq, round) }
        let last = page.last ?? (page.isComplete ? round.lastID : nil)
        if page.isComplete {
            round.resumeCursor.complete(round.end)
            try round.save(archive, of: step.account.id, in: database)
        }
        // A page that contains only messages before the range does not extend it.
        if let last, round.lastID != nil || round.start == nil { try extend(&round, to: last) }
        // The page was the same again, possibly because it began before its own last message: the next query begins after that
        // message, and shows whether the archive ends there.
        let cursor = last.map { page.isComplete || $0 == round.reached ? $0 : round.next(behind: $0) }
        try database.run(
            """
            UPDATE catchup SET range = ?3, cursor = coalesce(?4, cursor), reached = coalesce(?5, reached)
            WHERE account = ?1 AND archive = ?2
            """, key + [.optional(round.range), .optional(cursor), .optional(last)])
        if page.isComplete {
            try completed(round)
        } else if let last, last != round.cursor,
            try page.continues(behind: last, shown: round.lastID, of: archive, in: step)
        {
            if round.phase == .beforePresence, round.seen >= Self.maxBeforePresence { try announcePresence() }
            try requestPage()
        } else {
            try completed(round, problem: ArchivePage.noContinuation)
        }
    }

    private func extend(_ round: inout ArchiveSyncState, to last: String) throws {
        let end = ArchiveRanges.End(
            id: last, position: round.placed, at: round.lastAt, from: round.resumeCursor.id ?? last,
            fromPosition: round.resumeCursor.position)
        if let range = round.range { return try ranges.extend(range, to: end) }
        guard let first = round.first else { return }
        let range = try ranges.add(
            first: .init(id: first.id, position: first.position, at: first.at, from: first.id), last: end,
            isBottom: round.isBottom)
        round.range = range
        guard round.isBottom, let replaced = try ranges.remove(shownAgainFrom: first.position, except: range) else {
            return
        }
        round.changedBehind = min(round.changedBehind ?? .max, replaced.firstPosition - 1)
        try round.save(archive, of: step.account.id, in: database)
    }

    private func failed(_ iq: Element, _ round: ArchiveSyncState) throws {
        let error = StanzaError(iq)
        if error?.kind == .wait { return try postponed(round, problem: ArchivePage.refusal(iq)) }
        if error?.condition == .itemNotFound, round.cursor != nil { return try continueByTime(round) }
        try completed(round, problem: ArchivePage.refusal(iq))
    }
}
