import KalijStore

/// The state of an account's session, for `kalij status`.
package struct SessionStatus {
    /// The full address of the session, if there was one.
    package let boundJID: String?
    /// Whether the next connection can resume the session.
    package let isResumable: Bool
    /// When the last session was bound or resumed, in milliseconds since 1970.
    package let lastOnline: Int64?
    /// Whether the server sends copies of what other clients of the account send and receive in this session (XEP-0280).
    package let hasCarbons: Bool
    /// Whether the server archives the account's messages (XEP-0313).
    package let hasArchive: Bool
    /// The number of stored messages of the account.
    package let storedMessages: Int
    /// The number of stanzas in the queue.
    package let queuedStanzas: Int

    package static func load(_ account: Int64, from database: Database) throws -> SessionStatus {
        let status = try database.prepare(
            """
            SELECT jid, resume_id IS NOT NULL AS resumable, online_at, carbons, archive, messages,
                (SELECT count(*) FROM queue WHERE account = session.account) AS queued
            FROM session WHERE account = ?
            """
        ).first([.integer(account)]) { row in
            SessionStatus(
                boundJID: row.optionalText("jid"), isResumable: row.bool("resumable"),
                lastOnline: row.optionalInteger("online_at"), hasCarbons: row.bool("carbons") && !row.isNull("jid"),
                hasArchive: row.bool("archive"), storedMessages: Int(row.integer("messages")),
                queuedStanzas: Int(row.integer("queued")))
        }
        guard let status else { throw StoreError(.corrupt, "account \(account) has no session row") }
        return status
    }
}
