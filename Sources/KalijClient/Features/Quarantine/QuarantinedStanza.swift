import KalijStore
import KalijXML

/// A stanza that is set aside unprocessed so that it does not block the account.
struct QuarantinedStanza {
    let reason: String
    let name: String
    let sender: String?
    /// Its bytes on the wire.
    let size: Int
    /// Its first 64 KiB.
    let prefix: [UInt8]

    /// The newest ones of an account that are kept: strangers must not fill the disk.
    private static let limit: Int64 = 1000

    /// One that the parser skipped, because it is over a limit.
    init(_ skipped: SkippedElement) {
        reason = "over the limit on \(skipped.limit)"
        name = skipped.name
        sender = skipped.attributes["from"]
        size = skipped.byteCount
        prefix = skipped.prefix
    }

    /// One whose handling was begun too often without coming to an end.
    init(_ stanza: Element, attempts: Int) {
        let bytes = stanza.bytes()
        reason = "not processed after \(attempts) attempts"
        name = stanza.name
        sender = stanza["from"]
        size = bytes.count
        prefix = Array(bytes.prefix(64 * 1024))
    }

    func store(in step: Step) throws {
        try step.database.run(
            """
            INSERT INTO quarantine(account, at, reason, name, sender, size, stanza, position)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE NOT EXISTS (SELECT 1 FROM quarantine
                WHERE account = ?1 AND sender IS ?5 AND size = ?6 AND stanza = ?7)
            """,
            [
                .integer(step.account.id), .integer(step.now), .text(reason), .text(name), .optional(sender),
                .integer(Int64(size)), .blob(prefix), .integer(try step.nextPosition()),
            ])
        // The archive shows it each time that it is read.
        guard step.database.changes > 0 else { return }
        try step.database.run(
            "DELETE FROM quarantine WHERE account = ?1 AND id <= (SELECT max(id) FROM quarantine WHERE account = ?1) - ?2",
            [.integer(step.account.id), .integer(Self.limit)])
        step.emit(.quarantined(reason: reason, sender: sender))
    }
}
