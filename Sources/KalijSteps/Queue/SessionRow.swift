import KalijAddress
import KalijStore
import KalijStream

/// An account's stored XEP-0198 session: enough for the next process to resume the session.
package struct SessionRow {
    package var number: Int64
    package var resumeID: String?
    /// The full address that the server bound.
    package var jid: String?
    package var handled: HandledCount
    package var acknowledged: HandledCount
    /// Whether the server archives the account's messages (XEP-0313).
    package var archive: Bool

    package static func load(_ account: Int64, from database: Database) throws -> SessionRow {
        let row = try database.statement(
            "SELECT number, resume_id, jid, handled, acknowledged, archive FROM session WHERE account = ?"
        ).first([.integer(account)]) { row in
            SessionRow(
                number: row.integer("number"), resumeID: row.optionalText("resume_id"), jid: row.optionalText("jid"),
                handled: HandledCount(UInt32(truncatingIfNeeded: row.integer("handled"))),
                acknowledged: HandledCount(UInt32(truncatingIfNeeded: row.integer("acknowledged"))),
                archive: row.bool("archive"))
        }
        guard let row else { throw StoreError(.corrupt, "account \(account) has no session row") }
        return row
    }

    package static func set(acknowledged: HandledCount, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET acknowledged = ? WHERE account = ?",
            [.integer(Int64(acknowledged.value)), .integer(account)])
    }
}
