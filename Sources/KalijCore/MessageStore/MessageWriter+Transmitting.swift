import KalijStore

extension MessageWriter {
    /// Marks messages as sent, before they are transmitted. A message that is sent for the first time records as its anchor the newest
    /// message of the archive at that time. No event is emitted for a hidden message, such as a receipt.
    /// - Parameter end: the end of the part of the archive read so far; nil if nothing was read.
    package func transmit(_ messages: [Int64], after end: (id: String, position: Int64)?) throws {
        let newest = try newest(after: end?.position) ?? end?.id
        let rows = Value.text("[" + messages.map(String.init).joined(separator: ",") + "]")
        let shown = try database.statement(
            "SELECT id FROM message WHERE id IN (SELECT value FROM json_each(?)) AND state = ? AND shown ORDER BY id"
        ).all([rows, .state(MessageState.queued)]) { $0.integer() }
        try database.run(
            "UPDATE message SET state = ?, anchor = ? WHERE id IN (SELECT value FROM json_each(?)) AND state = ?",
            [.state(MessageState.sent), .optional(newest), rows, .state(MessageState.queued)])
        for id in shown { try emitState(of: id) }
    }

    /// Marks messages to rooms as sent, before they are transmitted. The anchor is the newest stored message of the room's archive.
    package func transmit(groupchats messages: [Int64]) throws {
        for id in messages {
            try database.run(
                """
                UPDATE message SET state = ?1, anchor = (SELECT stanza_id FROM (
                    SELECT a.stanza_id FROM message a
                    WHERE a.account = message.account AND a.conversation = message.conversation AND a.shown = 1
                    ORDER BY a.position DESC LIMIT 200) WHERE stanza_id IS NOT NULL LIMIT 1)
                WHERE id = ?2 AND state = ?3
                """, [.state(MessageState.sent), .integer(id), .state(MessageState.queued)])
            if database.changes > 0 { try emitState(of: id) }
        }
    }

    /// The id of the last stored message of the archive at or after the order number `position`. Messages stored recently by backfill
    /// are older than the tail.
    private func newest(after position: Int64?) throws -> String? {
        let near = try database.statement(
            """
            SELECT stanza_id FROM message NOT INDEXED
            WHERE account = ?1 AND archive = ?2 AND stanza_id IS NOT NULL
                AND id > (SELECT max(id) FROM message) - 200 AND position >= coalesce(?3, position)
            ORDER BY id DESC LIMIT 1
            """
        ).first([account, .text(Archive.own.key), .optional(position)]) { $0.text() }
        guard near == nil, let position else { return near }
        // In between may be messages of rooms, and numbers are left out when a process takes over.
        return try database.statement(
            """
            SELECT stanza_id FROM (
                SELECT stanza_id, account, archive, position FROM message NOT INDEXED ORDER BY id DESC LIMIT 1000)
            WHERE account = ?1 AND archive = ?2 AND stanza_id IS NOT NULL AND position >= ?3 LIMIT 1
            """
        ).first([account, .text(Archive.own.key), .integer(position)]) { $0.text() }
    }
}
