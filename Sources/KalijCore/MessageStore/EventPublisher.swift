import KalijStore

/// Publishes the events of a step about messages: each has a number and a row, and is emitted after the commit.
package struct EventPublisher {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// How long events are kept, in milliseconds, and how many are kept regardless of their age.
    package static let age: Int64 = 30 * 86_400_000
    package static let minKept: Int64 = 10_000
    /// The number of new events between two removals, and half of the maximum number of events in one removal.
    package static let batchSize: Int64 = 1000
    /// How many numbers are skipped after a power failure, which may have undone emitted events: more numbers than fit into a
    /// write-ahead log between two syncs.
    private static let leftOut: Int64 = 10_000

    /// Stores and emits an event about a message.
    package func publish(_ content: some MessageEvent) throws {
        try step.database.run(
            "INSERT INTO event(account, at, kind, message) VALUES (?, ?, ?, ?)",
            [
                .integer(step.account.id), .integer(step.now), .text(content.kind), .integer(content.message.id),
            ])
        let number = step.database.lastInsertedRow
        step.emit(content, number: number)
        if number % Self.batchSize == 0 { try forget() }
    }

    /// Removes the oldest events beyond the documented age.
    private func forget() throws {
        let database = step.database
        let newest = try database.statement("SELECT number FROM event ORDER BY number DESC LIMIT 1 OFFSET ?")
            .first([.integer(Self.minKept)]) { $0.integer() }
        guard let newest else { return }
        let last =
            try database.statement(
                """
                SELECT max(number) FROM (SELECT number, at FROM event WHERE number <= ? ORDER BY number LIMIT ?)
                WHERE at < ?
                """
            ).first([.integer(newest), .integer(2 * Self.batchSize), .integer(step.now - Self.age)]) {
                $0.optionalInteger()
            } ?? nil
        guard let last else { return }
        try database.run("DELETE FROM event WHERE number <= ?", [.integer(last)])
        try database.run("UPDATE event_forgotten SET number = max(number, ?)", [.integer(last)])
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
