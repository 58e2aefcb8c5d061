import KalijStore

/// Writes the events about messages of a transaction. The first determines the numbers, which no other transaction assigns meanwhile; those
/// after it are written together, before the end of the transaction, before a part of it that may be undone, and before the account goes.
package final class EventWriter {
    private let database: Database
    private let account: Int64
    /// The number of the last event; nil if there was none.
    private(set) var last: Int64?
    /// The columns of the events that are not written yet.
    private var waiting: [Value] = []

    /// How long events are kept, in milliseconds, and how many are kept regardless of their age.
    package static let age: Int64 = 30 * 86_400_000
    package static let minKept: Int64 = 10_000
    /// The number of new events between two removals, and half of the maximum number of events in one removal.
    package static let batchSize: Int64 = 1000
    /// How many events one statement writes, and how many columns each has.
    private static let (together, columns) = (8, 5)

    init(_ database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// Assigns a number to an event.
    package func add(_ kind: String, of message: Int64, at now: Int64) throws -> Int64 {
        guard let last else { return try first(kind, of: message, at: now) }
        self.last = last + 1
        waiting += [.integer(last + 1), .integer(account), .integer(now), .text(kind), .integer(message)]
        if waiting.count == Self.together * Self.columns { try write(at: now) }
        return last + 1
    }

    private func first(_ kind: String, of message: Int64, at now: Int64) throws -> Int64 {
        try database.run(
            "INSERT INTO event(account, at, kind, message) VALUES (?, ?, ?, ?)",
            [.integer(account), .integer(now), .text(kind), .integer(message)])
        let number = database.lastInsertedRow
        last = number
        if number % Self.batchSize == 0 { try forget(at: now) }
        return number
    }

    /// Writes the events that wait.
    package func write(at now: Int64) throws {
        guard !waiting.isEmpty, let last else { return }
        let events = waiting
        waiting.removeAll(keepingCapacity: true)
        if events.count == Self.together * Self.columns {
            try database.run(
                """
                INSERT INTO event(number, account, at, kind, message) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
                    (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)
                """, events)
        } else {
            for start in stride(from: 0, to: events.count, by: Self.columns) {
                try database.run(
                    "INSERT INTO event(number, account, at, kind, message) VALUES (?, ?, ?, ?, ?)",
                    Array(events[start..<start + Self.columns]))
            }
        }
        let before = last - Int64(events.count / Self.columns)  // fits: a few
        if last / Self.batchSize > before / Self.batchSize { try forget(at: now) }
    }

    /// The transaction was undone to the point where `last` was the last event, and none waited.
    func undo(to last: Int64?) {
        waiting.removeAll(keepingCapacity: true)
        self.last = last
    }

    /// Removes the oldest events beyond the documented age.
    private func forget(at now: Int64) throws {
        let newest = try database.statement("SELECT number FROM event ORDER BY number DESC LIMIT 1 OFFSET ?")
            .first([.integer(Self.minKept)]) { $0.integer() }
        guard let newest else { return }
        let last =
            try database.statement(
                """
                SELECT max(number) FROM (SELECT number, at FROM event WHERE number <= ? ORDER BY number LIMIT ?)
                WHERE at < ?
                """
            ).first([.integer(newest), .integer(2 * Self.batchSize), .integer(now - Self.age)]) {
                $0.optionalInteger()
            } ?? nil
        guard let last else { return }
        try database.run("DELETE FROM event WHERE number <= ?", [.integer(last)])
        try database.run("UPDATE event_forgotten SET number = max(number, ?)", [.integer(last)])
    }
}
