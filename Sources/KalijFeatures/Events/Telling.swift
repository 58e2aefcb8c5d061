import KalijSteps
import KalijStore

/// What a step has to tell of messages: events with a number each, rows of its own, told after the commit.
package struct Telling {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// How long events are kept, in milliseconds, and how many are kept however old they are.
    package static let age: Int64 = 30 * 86_400_000
    static let fewest: Int64 = 10_000
    /// After how many events it is looked for old ones, and how many may go then: more than came.
    static let portion: Int64 = 1000
    /// How many numbers are left out when a power failure may have taken back events that were told: more than have room in a
    /// write-ahead log between two syncs.
    private static let leftOut: Int64 = 10_000

    /// Tells of a message.
    package func tell(_ content: some MessageEvent) throws {
        try step.database.run(
            "INSERT INTO event(account, at, kind, message) VALUES (?, ?, ?, ?)",
            [
                .integer(step.account.id), .integer(step.now), .text(content.kind), .integer(content.message.id),
            ])
        let number = step.database.lastInsertedRow
        step.emit(content, number: number)
        if number % Self.portion == 0 { try forget() }
    }

    /// Forgets the oldest events, if they are older than anybody may rely on.
    private func forget() throws {
        let database = step.database
        let newest = try database.statement("SELECT number FROM event ORDER BY number DESC LIMIT 1 OFFSET ?")
            .first([.integer(Self.fewest)]) { $0.integer() }
        guard let newest else { return }
        let last =
            try database.statement(
                """
                SELECT max(number) FROM (SELECT number, at FROM event WHERE number <= ? ORDER BY number LIMIT ?)
                WHERE at < ?
                """
            ).first([.integer(newest), .integer(2 * Self.portion), .integer(step.now - Self.age)]) {
                $0.optionalInteger()
            } ?? nil
        guard let last else { return }
        try database.run("DELETE FROM event WHERE number <= ?", [.integer(last)])
        try database.run("UPDATE event_forgotten SET number = max(number, ?)", [.integer(last)])
    }

    /// The last driver died, perhaps with the machine, and its last commits with it. What it told in them was told under numbers
    /// that must not be given to anything else. To be called in a transaction that syncs.
    package static func leaveNumbersOut(in database: Database, now: Int64) throws {
        try database.run(
            """
            INSERT INTO event(number, at, kind, message)
            VALUES (coalesce((SELECT max(number) FROM event), 0) + ?, ?, 'message', 0)
            """, [.integer(leftOut), .integer(now)])
    }
}
