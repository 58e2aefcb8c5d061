import KalijAddress
import KalijStore
import KalijXML

/// A stanza that is quarantined unprocessed, so that it does not block the account.
package struct QuarantinedStanza {
    package let reason: String
    package let name: String
    package let sender: String?
    /// Bytes on the wire.
    package let size: Int
    /// The first 64 KiB.
    package let prefix: [UInt8]
    /// The whole stanza, if it could be parsed.
    private let whole: Element?

    /// A stanza that the parser skipped because of a limit.
    package init(_ skipped: SkippedElement) {
        reason = "over the limit on \(skipped.limit)"
        name = skipped.name
        sender = skipped.attributes["from"]
        size = skipped.byteCount
        prefix = skipped.prefix
        whole = nil
    }

    /// A stanza whose handling was begun too often and never completed.
    package init(_ stanza: Element, attempts: Int) {
        let bytes = stanza.bytes()
        reason = "not processed after \(attempts) attempts"
        name = stanza.name
        sender = stanza["from"]
        size = bytes.count
        prefix = Array(bytes.prefix(64 * 1024))
        whole = stanza
    }

    package func store(in step: Step) throws {
        let origin = whole.map { ArchivedOrigin($0, in: step) } ?? ArchivedOrigin(beginning: prefix, in: step)
        let author = (origin?.author ?? sender).map { JID.received($0).bare.description } ?? ""
        try step.database.run(
            """
            INSERT INTO quarantine(account, at, reason, name, sender, size, stanza, position, archive, archive_id, author)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE NOT EXISTS (SELECT 1 FROM quarantine
                WHERE account = ?1 AND size = ?6 AND sender IS ?5 AND stanza = ?7)
            ON CONFLICT DO NOTHING
            """,
            [
                .integer(step.account.id), .integer(step.now), .text(reason), .text(name), .optional(sender),
                .integer(Int64(size)), .blob(try withoutQuery(in: step)), .integer(try step.nextPosition()),
                .optional(origin?.archive), .optional(origin?.id), .text(author),
            ])
        // The archive returns the same stanza in each reading.
        guard step.database.changes > 0 else { return }
        try makeRoom(in: step)
        step.emit(Quarantined(reason: reason, sender: sender))
    }

    /// The stored bytes, with zeros for the id of a pending query, which differs in each reading.
    private func withoutQuery(in step: Step) throws -> [UInt8] {
        let open = try step.hooks.stanzaInterceptors
            .flatMap { try $0.openQueries(of: step.account, in: step.database) }.map { Array($0.utf8) }
        return open.reduce(prefix) { bytes, id in
            bytes.replacing(id, with: [UInt8](repeating: UInt8(ascii: "0"), count: id.count))
        }
    }

    /// Deletes the oldest stanza of the sender with the most stanzas: a flood displaces its own stanzas, and not those of others.
    private func makeRoom(in step: Step) throws {
        let account = Value.integer(step.account.id)
        let count = try step.database.statement("SELECT count(*) FROM quarantine WHERE account = ?")
            .first([account]) { $0.integer() }
        guard (count ?? 0) > EngineLimits.keptRows else { return }
        try step.database.run(
            """
            DELETE FROM quarantine WHERE id = (SELECT min(id) FROM quarantine WHERE account = ?1 AND author =
                (SELECT author FROM quarantine WHERE account = ?1 GROUP BY author ORDER BY count(*) DESC LIMIT 1))
            """, [account])
    }
}
