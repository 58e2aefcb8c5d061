import KalijSteps
import KalijStore

/// Messages that were sent in a session that is lost, and that nothing can tell the outcome of: they stay `sent`, are
/// reported, and are never silently sent again.
package struct Unsettled {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var account: Value { .integer(step.account.id) }

    /// Reports all that were sent and not acknowledged; they leave the queue.
    package func reportAll() throws {
        try report(
            try step.database.statement(
                """
                SELECT id FROM message
                WHERE account = ? AND state IN ('queued', 'sent', 'failed') AND state = 'sent' AND settled = 1 ORDER BY id
                """))
        try step.database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND message IS NOT NULL
                AND message NOT IN (SELECT id FROM message
                    WHERE account = ?1 AND state IN ('queued', 'sent', 'failed') AND state = 'queued')
            """, [account])
    }

    /// Reports those that are not in the queue: without stream management nothing stays there once it has left.
    package func reportUnqueued() throws {
        try report(
            try step.database.statement(
                """
                SELECT id FROM message
                WHERE account = ?1 AND state IN ('queued', 'sent', 'failed') AND state = 'sent' AND settled = 1
                    AND id NOT IN (SELECT message FROM queue WHERE account = ?1 AND message IS NOT NULL) ORDER BY id
                """))
    }

    private func report(_ statement: Statement) throws {
        try report(try statement.all([account]) { $0.integer() })
    }

    /// Reports the messages in `rows`; they leave the queue.
    package func report(_ rows: [Int64]) throws {
        for id in rows {
            try step.database.run("UPDATE message SET settled = 0 WHERE id = ?", [.integer(id)])
            try step.database.run(
                "DELETE FROM queue WHERE account = ? AND message = ?", [account, .integer(id)])
            guard let message = try Message.load(id, from: step.database) else { continue }
            try Telling(step: step).tell(MessageUnsettled(message))
        }
    }
}
