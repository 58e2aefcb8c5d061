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
        /// The message to a contact in the stanza, if the user wrote the stanza.
        package let message: Int64?
        /// The message to a room in the stanza.
        package let groupchat: Int64?
        /// The id of the request in the stanza, if a handler waits for the answer.
        package let request: String?
        /// The bytes for the wire; sent again unchanged.
        package let stanza: [UInt8]
        /// Whether the server has ended a session while the entry was unacknowledged: then the entry leaves alone.
        package let isBlamed: Bool
    }

    /// - Parameter isRepeatable: whether the message is sent again if it is unknown whether the message has arrived: sending it
    ///   twice has the same effect as sending it once.
    /// - Throws: `StanzaTooLong`, `StoreError`.
    package func append(
        _ stanza: [UInt8], message: Int64?, request: String? = nil, isRepeatable: Bool = false
    ) throws {
        try check(stanza)
        try database.run(
            "INSERT INTO queue(account, message, request, stanza, lasting) VALUES (?, ?, ?, ?, ?)",
            [
                .integer(account), .optional(message), .optional(request), .blob(stanza),
                .integer(isRepeatable ? 1 : 0),
            ])
    }

    /// A message to a room; the account is in the room.
    /// - Throws: `StanzaTooLong`, `StoreError`.
    package func append(_ stanza: [UInt8], groupchat: Int64) throws {
        try check(stanza)
        try database.run(
            "INSERT INTO queue(account, groupchat, stanza) VALUES (?, ?, ?)",
            [.integer(account), .integer(groupchat), .blob(stanza)])
    }

    /// Whether there are entries besides requests with handlers of these names.
    package func isAny(besides names: [String]) throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM queue WHERE account = ?1 AND NOT EXISTS (SELECT 1 FROM request
                WHERE account = ?1 AND id = queue.request AND instr(?2, ' ' || name || ' ') > 0) LIMIT 1
            """
        ).first([.integer(account), .text(" \(names.joined(separator: " ")) ")]) { _ in true } ?? false
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
            SELECT id, coalesce(message, groupchat) AS message FROM queue WHERE account = ?1
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
    package enum HoldReason: Int64 {
        case none = 0
        /// The session was resumed: unacknowledged messages are sent again, except messages shown by the archive.
        case resumed = 1
        /// The session is lost: a message that has left is sent again only if the archive shows that the message did
        /// not arrive.
        case bound = 2
    }

    /// Whether messages are held back, and why.
    package func holding() throws -> HoldReason {
        let hold = try database.statement("SELECT holding FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.integer() }
        return hold.flatMap(HoldReason.init) ?? .none
    }

    /// Removes all entries of the lost session. Messages and requests that have never left stay.
    /// - Parameter all: whether such requests are removed, too.
    package func removeOthers(all: Bool = false) throws {
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IS NULL AND (?2 OR request IS NULL
                OR NOT EXISTS (SELECT 1 FROM request WHERE account = ?1 AND id = queue.request AND sent = 0))
            """, [.integer(account), .integer(all ? 1 : 0)])
    }

    /// Holds messages back from now on, for that reason; or releases them, with `none`.
    /// - Returns: whether they were held before.
    @discardableResult
    package func set(_ hold: HoldReason) throws -> Bool {
        let before = try holding()
        try database.run(
            "UPDATE session SET holding = ? WHERE account = ?", [.integer(hold.rawValue), .integer(account)])
        return before != .none
    }

    /// Removes the entry `id` in a session without acknowledgements.
    package func remove(_ id: Int64) throws {
        try database.run("DELETE FROM queue WHERE id = ?", [.integer(id)])
    }

    /// Removes all entries.
    package func removeAll() throws { try database.run("DELETE FROM queue WHERE account = ?", [.integer(account)]) }
}
