import KalijCore
import KalijStore
import KalijXML

/// Determines once whether an archive has messages from before the first reading. If it has none, nothing is missing there, and no gap
/// is shown.
struct ArchiveStart {
    package let step: Step
    package let archive: Archive
    private var key: [Value] { [.integer(step.account.id), .text(archive.key)] }
    private var ranges: ArchiveRanges {
        ArchiveRanges(database: step.database, account: step.account.id, archive: archive)
    }

    private func since() throws -> Int64? {
        try step.database.statement("SELECT since FROM catchup WHERE account = ? AND archive = ? AND NOT probed")
            .first(key) { $0.integer() }
    }

    /// Queries for the last message before the first reading. The result is not stored, because it matches no open query.
    func findOut() throws {
        guard let since = try since(), since > 0, try ranges.all().last?.isBottom != true else { return }
        let first = try ranges.all().last
        let question = ArchiveQuery(
            archive: archive, place: .before(first?.firstID), end: first == nil ? since : nil, size: 1)
        try step.send(
            question.element, then: ArchiveStartResponse(room: archive.isOwn ? nil : archive.key),
            within: EngineLimits.archiveTimeout)
    }

    /// The archive has returned a result that matches no open query: older messages exist.
    func shown() throws {
        guard try since() != nil, try Requests(step: step).isWaiting([ArchiveStartResponse.name]) else { return }
        try step.database.run("UPDATE catchup SET probed = 1 WHERE account = ? AND archive = ?", key)
    }

    package func answered(_ iq: Element) throws {
        guard let page = ArchivePage(iq), try since() != nil else { return }
        if page.isEmpty {
            if let first = try ranges.all().last { try ranges.markBottom(first.id) }
            try step.database.run("UPDATE catchup SET since = 0 WHERE account = ? AND archive = ?", key)
        }
        try step.database.run("UPDATE catchup SET probed = 1 WHERE account = ? AND archive = ?", key)
    }
}
