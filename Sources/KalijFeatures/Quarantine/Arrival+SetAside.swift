import KalijAddress
import KalijSteps

extension Arrival {
    /// Leaves out results of an archive whose message was set aside, live or as a result: what has ended processes would end the next. The
    /// author has to be the same, so that nobody hides the message of somebody else behind an id.
    package func withoutSetAside(in step: Step) throws -> Arrival {
        // Results of a page are of one archive.
        guard let first = stanzas.first, ArchiveResults.page(of: first) != nil,
            let archive = ArchivedOrigin(first, in: step)?.archive
        else { return self }
        let known = try step.database.statement(
            "SELECT archive_id, author FROM quarantine WHERE account = ? AND archive = ? AND archive_id IS NOT NULL"
        ).all([.integer(step.account.id), .text(archive)]) { [$0.text("archive_id"), $0.text("author")] }
        guard !known.isEmpty else { return self }
        let left = stanzas.filter { stanza in
            guard let origin = ArchivedOrigin(stanza, in: step) else { return true }
            return !known.contains([origin.id, origin.author.map { JID.received($0).bare.description } ?? ""])
        }
        return Arrival(stanzas: left, count: count)
    }
}
