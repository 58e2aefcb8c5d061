import KalijCore
import KalijStore
import KalijXML

/// Routes each `<result/>` to its reading.
struct ArchiveResults {
    let step: Step

    /// Handles results of one page. They count only if they are from the queried archive, and only while the page is open; all other
    /// results are dropped.
    func handle(_ messages: [Element]) throws {
        guard let first = messages.first, let page = ArchiveResult.page(of: first) else { return }
        let archive = archive(of: first)
        let results = messages.compactMap { ArchiveResult.element(in: $0).flatMap { ArchivedMessage($0, of: archive) } }
        guard !results.isEmpty else { return }
        if try ArchiveSync(step: step, archive: archive).store(results, query: page.query) { return }
        if try Backfill(step: step, archive: archive).store(results, query: page.query) { return }
        if archive.isOwn, try ConversationHistory.store(results, query: page.query, in: step) { return }
        try ArchiveStart(step: step, archive: archive).shown()
    }

    /// Handles a result that was quarantined while its page was open. It counts now if its archive has been read.
    func handle(again message: Element, at position: Int64?) throws {
        let messages = MessageWriter(step: step)
        guard
            let archived = ArchiveResult.element(in: message).flatMap({ ArchivedMessage($0, of: archive(of: message)) })
        else { return }
        archived.mark(step)
        guard let round = try ArchiveSync(step: step, archive: archived.archive).round(),
            let received = try IncomingPipeline(step: step).archived(archived), try messages.place(of: received) == nil
        else { return }
        try messages.keep(received, nil, at: try position ?? step.nextPosition(), catchup: round.number)
    }

    private func archive(of message: Element) -> Archive {
        ArchiveResult.archive(of: message, to: step.account.jid)
    }

    /// Whether a result belongs to an open page, so that features process it.
    static func isAwaited(_ stanza: Element, for account: Account, in database: Database) throws -> Bool {
        guard let query = ArchiveResult.page(of: stanza)?.query else { return false }
        let archive = ArchiveResult.archive(of: stanza, to: account.jid)
        if let round = try ArchiveSyncState.load(archive, of: account.id, from: database), round.queryID == query {
            return round.phase != .done
        }
        if try BackfillRow.load(archive, of: account.id, from: database)?.queryID == query { return true }
        return try archive.isOwn && ConversationHistoryRow.conversation(of: query, account.id, in: database) != nil
    }
}
