import KalijSteps
import KalijStore

extension Messages {
    /// These messages are about to leave; what leaves for the first time remembers what the archive's newest was.
    package func leave(_ messages: [Int64]) throws {
        for id in messages {
            try database.run(
                """
                UPDATE message SET state = 'sent', anchor = coalesce(
                    (SELECT m.stanza_id FROM message m NOT INDEXED
                        WHERE m.account = ?1 AND m.archive = '' AND m.stanza_id IS NOT NULL
                            -- A bounded search of the tail; what was filled in lately is older than it.
                            AND m.id > (SELECT max(id) FROM message) - 200
                            AND m.position >= coalesce((SELECT max(last_position) FROM archive_range
                                WHERE account = ?1 AND archive = ''), m.position)
                        ORDER BY m.id DESC LIMIT 1),
                    (SELECT last_id FROM archive_range WHERE account = ?1 AND archive = ''
                        ORDER BY last_position DESC LIMIT 1))
                WHERE id = ?2 AND state = 'queued'
                """, [account, .integer(id)])
            if database.changes > 0, let message = try Message.load(id, from: database) {
                try Telling(step: step).tell(MessageStateChanged(message))
            }
        }
    }
}
