import KalijStore

/// The stanzas of an account's session that are not acknowledged yet, in order: the outbox for stanzas.
package struct OutboundQueue {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) {
        self.database = database
        self.account = account
    }

    package struct Entry {
        package let id: Int64
        /// The message in the stanza, if the user wrote the stanza.
        package let message: Int64?
        /// The id of the request in the stanza, if a handler waits for the answer.
        package let request: String?
        /// The bytes for the wire; sent again unchanged.
        package let stanza: [UInt8]
        /// Whether the server has ended a session while the entry was unacknowledged: then the entry leaves alone.
        package let isBlamed: Bool
    }

    /// - Parameter isLasting: whether the stanza is sent again in a new session, although the stanza is not a user's
    ///   message.
    /// - Throws: `StanzaTooLong`, `StoreError`.
    package func append(_ stanza: [UInt8], message: Int64?, request: String? = nil, isLasting: Bool = false) throws {
        try check(stanza)
        try database.run(
            "INSERT INTO queue(account, message, request, stanza, lasting) VALUES (?, ?, ?, ?, ?)",
            [
                .integer(account), .optional(message), .optional(request), .blob(stanza), .integer(isLasting ? 1 : 0),
            ])
    }

    /// Whether there are entries.
    package func isAny() throws -> Bool {
        try database.statement("SELECT 1 FROM queue WHERE account = ? LIMIT 1").first([.integer(account)]) { _ in true }
            ?? false
    }

    /// Up to `limit` entries after the entry `id` that may leave now.
    package func entries(after id: Int64, limit: Int) throws -> [Entry] {
        try database.statement(
            """
            SELECT id, message, request, stanza, blamed FROM queue WHERE account = ?1 AND id > ?2
                AND (message IS NULL OR NOT (SELECT holding FROM session WHERE account = ?1))
            ORDER BY id LIMIT ?3
            """
        ).all([.integer(account), .integer(id), .integer(Int64(limit))]) {
            Entry(
                id: $0.integer("id"), message: $0.optionalInteger("message"), request: $0.optionalText("request"),
                stanza: $0.blob("stanza"),
                isBlamed: $0.bool("blamed"))
        }
    }

    /// Removes the first `number` entries among the entries that the server can have counted: all entries, or all
    /// except messages while messages are held.
    /// - Returns: the removed messages; nil, and nothing is removed, if there are fewer entries.
    package func removeFirst(_ number: Int) throws -> [Int64]? {
        guard number > 0 else { return [] }
        var (last, found) = (Int64(0), 0)
        var messages: [Int64] = []
        try database.statement(
            """
            SELECT id, message FROM queue WHERE account = ?1
                AND (message IS NULL OR NOT (SELECT holding FROM session WHERE account = ?1))
            ORDER BY id LIMIT ?2
            """
        ).each([.integer(account), .integer(Int64(number))]) { row in
            last = row.integer("id")
            found += 1
            if let message = row.optionalInteger("message") { messages.append(message) }
        }
        guard found == number else { return nil }
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND id <= ?2
                AND (message IS NULL OR NOT (SELECT holding FROM session WHERE account = ?1))
            """, [.integer(account), .integer(last)])
        return messages
    }

    // MARK: Holding

    /// Why messages are held back until the archive has been read.
    package enum Hold: Int64 {
        case none = 0
        /// The session goes on: unacknowledged messages are sent again, except messages shown by the archive.
        case resumed = 1
        /// The session is lost: a message that has left is sent again only if the archive shows that the message did
        /// not arrive.
        case bound = 2
    }

    /// Holds all messages back if some of them have left before, and if there is, or may be, an archive that can tell
    /// whether they arrived.
    ///
    /// Called at the beginning of a connection: no entry in the queue is in the server's count then.
    package func hold(_ hold: Hold) throws {
        // Messages shown by the archive before the connection ended have arrived, whatever the server's count says.
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IN (SELECT q.message FROM queue q
                JOIN message m ON m.id = q.message WHERE q.account = ?1 AND m.state NOT IN ('queued', 'sent'))
            """, [.integer(account)])
        try database.run(
            """
            UPDATE session SET holding = CASE WHEN (archive
                    -- The server has not said yet whether it keeps one.
                    OR NOT EXISTS (SELECT 1 FROM catchup WHERE account = ?1 AND archive = ''))
                AND EXISTS (SELECT 1 FROM queue q
                    JOIN message m ON m.id = q.message WHERE q.account = ?1 AND m.state = 'sent')
                THEN max(holding, ?2) ELSE 0 END WHERE account = ?1
            """, [.integer(account), .integer(hold.rawValue)])
    }

    /// The anchor of the first message that has left and is neither acknowledged nor shown by the archive: the newest
    /// archive id known at that time.
    package func firstAnchor() throws -> String? {
        try database.statement(
            """
            SELECT m.anchor FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state = 'sent' ORDER BY q.id LIMIT 1
            """
        ).first([.integer(account)]) { $0.optionalText() } ?? nil
    }

    /// Whether messages are held back, and why.
    package func holding() throws -> Hold {
        let hold = try database.statement("SELECT holding FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.integer() }
        return hold.flatMap(Hold.init) ?? .none
    }

    /// Removes all entries of the lost session. Messages, lasting stanzas and requests that have never left stay.
    /// - Parameter all: whether lasting stanzas and such requests are removed, too.
    package func removeOthers(all: Bool = false) throws {
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IS NULL AND (?2 OR (NOT lasting AND (request IS NULL
                OR NOT EXISTS (SELECT 1 FROM request WHERE account = ?1 AND id = queue.request AND sent = 0))))
            """, [.integer(account), .integer(all ? 1 : 0)])
    }

    /// Lets messages leave again, except messages shown by the archive meanwhile. The messages go after all stanzas
    /// that have left since, so the queue keeps the order of the server's count.
    /// - Returns: whether messages were held.
    package func release() throws -> Bool {
        try database.run("UPDATE session SET holding = 0 WHERE account = ? AND holding > 0", [.integer(account)])
        guard database.changes > 0 else { return false }
        let last =
            try database.statement("SELECT max(id) FROM queue WHERE account = ?")
            .first([.integer(account)]) { $0.integer() } ?? 0
        try database.run(
            """
            INSERT INTO queue(account, message, stanza, blamed) SELECT q.account, q.message, q.stanza, q.blamed
            FROM queue q JOIN message m ON m.id = q.message
            WHERE q.account = ? AND m.state IN ('queued', 'sent') ORDER BY q.id
            """, [.integer(account)])
        try database.run(
            "DELETE FROM queue WHERE account = ? AND message IS NOT NULL AND id <= ?",
            [.integer(account), .integer(last)])
        return true
    }

    /// Removes the entry `id` in a session without acknowledgements.
    package func remove(_ id: Int64) throws {
        try database.run("DELETE FROM queue WHERE id = ?", [.integer(id)])
    }
}
