import KalijStore

/// What may leave.
extension OutboundQueue {
    /// Up to `limit` entries after the entry `id` that may leave now.
    package func entries(after id: Int64, limit: Int) throws -> [Entry] {
        try database.statement(
            """
            SELECT id, message, groupchat, request, stanza, blamed FROM queue WHERE account = ?1 AND id > ?2
                AND (message IS NULL OR NOT (SELECT holding FROM session WHERE account = ?1))
            ORDER BY id LIMIT ?3
            """
        ).all([.integer(account), .integer(id), .integer(Int64(limit))]) {
            Entry(
                id: $0.integer("id"), message: $0.optionalInteger("message"),
                groupchat: $0.optionalInteger("groupchat"),
                request: $0.optionalText("request"), stanza: $0.blob("stanza"),
                isBlamed: $0.bool("blamed"))
        }
    }

    /// Whether the queue has the entry `id`.
    package func contains(_ id: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM queue WHERE id = ?").first([.integer(id)]) { _ in true } ?? false
    }
}
