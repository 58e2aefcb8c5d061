import KalijSteps
import KalijStore

extension MessageWriter {
    /// The messages are about to leave. A message that leaves for the first time notes the newest message of the archive at that
    /// time.
    /// - Parameter end: the end of the part of the archive read so far; nil if nothing was read.
    package func transmit(_ messages: [Int64], after end: (id: String, position: Int64)?) throws {
        let newest = try newest(after: end?.position) ?? end?.id
        for id in messages {
            try database.run(
                "UPDATE message SET state = ?, anchor = ? WHERE id = ? AND state = ?",
                [.state(MessageState.sent), .optional(newest), .integer(id), .state(MessageState.queued)])
            if database.changes > 0 { try emitState(of: id) }
        }
    }

    /// Messages to rooms are about to leave. The anchor is the newest known message of the room's archive.
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

    /// The id of the last stored message of the archive at or after the order number `position`. The search of the tail
    /// is bounded. Messages that were filled in lately are older than the tail.
    private func newest(after position: Int64?) throws -> String? {
        try database.statement(
            """
            SELECT stanza_id FROM message NOT INDEXED
            WHERE account = ?1 AND archive = ?2 AND stanza_id IS NOT NULL
                AND id > (SELECT max(id) FROM message) - 200 AND position >= coalesce(?3, position)
            ORDER BY id DESC LIMIT 1
            """
        ).first([account, .text(Archive.own.key), .optional(position)]) { $0.text() }
    }
}
