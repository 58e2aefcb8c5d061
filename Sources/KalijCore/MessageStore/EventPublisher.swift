import KalijStore

/// Publishes the events of a step about messages: each has a number and a row, and is emitted after the commit.
package struct EventPublisher {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// How many numbers are skipped after a power failure, which may have undone emitted events: more numbers than fit into a
    /// write-ahead log between two syncs.
    private static let leftOut: Int64 = 10_000

    /// Stores and emits an event about a message.
    package func publish(_ content: some MessageEvent) throws {
        let number = try step.transaction.events.add(content.kind, of: content.message.id, at: step.now)
        step.emit(content, number: number)
    }

    /// Skips numbers after the last driver died, possibly with the machine and with its last commits: the numbers of emitted events
    /// must not be assigned to other events. Call this in a transaction that syncs.
    package static func leaveNumbersOut(in database: Database, now: Int64) throws {
        try database.run(
            """
            INSERT INTO event(number, at, kind, message)
            VALUES (coalesce((SELECT max(number) FROM event), 0) + ?, ?, 'message', 0)
            """, [.integer(leftOut), .integer(now)])
    }
}
