import KalijSteps
import KalijStore

extension Messages {
    /// The messages are about to leave. A message that leaves for the first time notes the newest message of the archive at that
    /// time.
    /// - Parameter end: the end of the part of the archive read so far; nil if nothing was read.
    package func transmit(_ messages: [Int64], after end: (id: String, position: Int64)?) throws {
        for id in messages {
            try database.run(
                """
                UPDATE message SET state = ?3, anchor = coalesce(
                    (SELECT m.stanza_id FROM message m NOT INDEXED
                        WHERE m.account = ?1 AND m.archive = ?4 AND m.stanza_id IS NOT NULL
                            -- A bounded search of the tail. Messages that were filled in lately are older than the tail.
                            AND m.id > (SELECT max(id) FROM message) - 200 AND m.position >= coalesce(?5, m.position)
                        ORDER BY m.id DESC LIMIT 1), ?6)
                WHERE id = ?2 AND state = ?7
                """,
                [
                    account, .integer(id), .state(MessageState.sent), .text(Archive.own.key), .optional(end?.position),
                    .optional(end?.id), .state(MessageState.queued),
                ])
            if database.changes > 0 { try emitState(of: id) }
        }
    }
}
