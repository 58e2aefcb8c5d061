import KalijStore

/// Messages of unknown outcome, sent in a lost session. They stay `sent`, are reported, and are never silently sent again.
package struct UnknownOutcomes {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var account: Value { .integer(step.account.id) }
    private var queue: OutboundQueue { OutboundQueue(database: step.database, account: step.account.id) }

    // The index `message_unfinished` is used only if the statement repeats the condition of the index.

    /// Reports all unacknowledged one-to-one messages, and removes sent messages from the queue. Idempotent messages are sent again instead.
    package func reportAll() throws {
        try report(
            try step.database.statement(
                """
                SELECT id FROM message
                WHERE account = ?1 AND direction = 'out' AND (state = 'queued' OR state = 'sent' OR state = 'failed')
                    AND state = ?2 AND settled = 1 AND type <> 'groupchat'
                    AND id NOT IN (SELECT message FROM queue WHERE account = ?1 AND message IS NOT NULL AND lasting)
                ORDER BY id
                """))
        try queue.removeSent()
    }

    /// Reports messages that are not in the queue: without stream management no message remains in the queue after it was sent.
    package func reportUnqueued() throws {
        try report(
            try step.database.statement(
                """
                SELECT id FROM message
                WHERE account = ?1 AND direction = 'out' AND (state = 'queued' OR state = 'sent' OR state = 'failed')
                    AND state = ?2 AND settled = 1 AND type <> 'groupchat'
                    AND id NOT IN (SELECT message FROM queue WHERE account = ?1 AND message IS NOT NULL) ORDER BY id
                """))
    }

    private func report(_ statement: Statement) throws {
        try report(try statement.all([account, .state(MessageState.sent)]) { $0.integer() })
    }

    /// Reports the messages in `rows`, and removes them from the queue.
    package func report(_ rows: [Int64]) throws {
        for id in rows {
            try step.database.run("UPDATE message SET settled = 0 WHERE id = ?", [.integer(id)])
            try queue.remove(message: id)
            guard let message = try Message.load(id, from: step.database) else { continue }
            if message.isShown { try EventPublisher(step: step).publish(MessageUnsettled(message)) }
            for observer in step.hooks.storedMessageObservers { try observer.didChangeState(message, in: step) }
        }
    }
}
