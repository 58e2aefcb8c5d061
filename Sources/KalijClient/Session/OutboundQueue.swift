import KalijStore

/// The stanzas handed to an account's session and not acknowledged yet, in order: the outbox for stanzas.
struct OutboundQueue {
    let database: Database
    let account: Int64

    struct Entry {
        let id: Int64
        /// The message that the stanza carries, if it is one that the user accepted.
        let message: Int64?
        /// The bytes for the wire; sent again as they are.
        let stanza: [UInt8]
    }

    func append(_ stanza: [UInt8], message: Int64?, request: String? = nil) throws {
        try database.run(
            "INSERT INTO queue(account, message, request, stanza) VALUES (?, ?, ?, ?)",
            [.integer(account), .optional(message), .optional(request), .blob(stanza)])
    }

    func count() throws -> Int {
        Int(
            try database.statement("SELECT count(*) FROM queue WHERE account = ?").first([.integer(account)]) {
                $0.integer(0)
            } ?? 0)
    }

    /// Up to `limit` entries behind the entry `id`.
    func entries(after id: Int64, limit: Int) throws -> [Entry] {
        try database.statement("SELECT id, message, stanza FROM queue WHERE account = ? AND id > ? ORDER BY id LIMIT ?")
            .all([.integer(account), .integer(id), .integer(Int64(limit))]) {
                Entry(id: $0.integer(0), message: $0.optionalInteger(1), stanza: $0.blob(2))
            }
    }

    /// Removes the first `number` entries; returns the messages they carried.
    func removeFirst(_ number: Int) throws -> [Int64] {
        guard number > 0 else { return [] }
        var last: Int64 = 0
        var messages: [Int64] = []
        try database.statement("SELECT id, message FROM queue WHERE account = ? ORDER BY id LIMIT ?")
            .each([.integer(account), .integer(Int64(number))]) { row in
                last = row.integer(0)
                if let message = row.optionalInteger(1) { messages.append(message) }
            }
        try database.run("DELETE FROM queue WHERE account = ? AND id <= ?", [.integer(account), .integer(last)])
        return messages
    }

    /// Removes the entry `id`, of a session without acknowledgements.
    func remove(_ id: Int64) throws {
        try database.run("DELETE FROM queue WHERE id = ?", [.integer(id)])
    }
}
