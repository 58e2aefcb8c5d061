import KalijHandlers
import KalijStore

/// A scheduled timer; a handler can bind the timer.
public struct ScheduledTimer: Codable, Hashable, Sendable {
    package let id: Int64
}

/// Handlers that are called at a time, by the process that drives then.
package struct Timers {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var account: Value { .integer(step.account.id) }

    /// - Parameter milliseconds: the wait; the clock may be set meanwhile.
    package func schedule(_ handler: StoredHandler, after milliseconds: Int64) throws -> ScheduledTimer {
        let time = SteadyTime.sum(step.steady.now, milliseconds)
        try step.database.run(
            "INSERT INTO timer(account, at, name, handler) VALUES (?, ?, ?, ?)",
            [account, .integer(time), .text(handler.name), .blob(handler.bytes)])
        let timer = ScheduledTimer(id: step.database.lastInsertedRow)
        try step.await(timer: time)
        return timer
    }

    /// Calls the handler of the timer with the earliest time; false if no timer is due.
    package func fireNext() throws -> Bool {
        let due = try step.database.statement(
            "SELECT id FROM timer WHERE account = ? AND at <= ? ORDER BY at, id LIMIT 1"
        ).first([account, .integer(step.steady.now)]) { $0.integer() }
        guard let due, let handler = try claim(due) else { return false }
        try HandlerInvoker(step: step).callAlone(handler, ())
        return true
    }

    /// The time of the next timer; nil if there is none.
    package static func next(of account: Int64, in database: Database) throws -> Int64? {
        try database.statement("SELECT min(at) FROM timer WHERE account = ?")
            .first([.integer(account)]) { $0.optionalInteger() } ?? nil
    }

    /// Whether a timer of this name is due within so many milliseconds.
    package func isWaiting(_ name: String, within milliseconds: Int64) throws -> Bool {
        try step.database.statement("SELECT 1 FROM timer WHERE account = ? AND at <= ? AND name = ? LIMIT 1")
            .first([account, .integer(SteadyTime.sum(step.steady.now, milliseconds)), .text(name)]) { _ in true }
            ?? false
    }

    /// Cancels a timer; false if the timer has fired already.
    package func cancel(_ timer: ScheduledTimer, telling reason: Invalidation) throws -> Bool {
        guard let handler = try claim(timer.id) else { return false }
        try HandlerInvoker(step: step).invalidate(handler, reason)
        return true
    }

    package func invalidateAll(_ reason: Invalidation) throws {
        let ids = try step.database.statement("SELECT id FROM timer WHERE account = ? ORDER BY at, id")
            .all([account]) { $0.integer() }
        for id in ids { _ = try cancel(ScheduledTimer(id: id), telling: reason) }
    }

    /// Makes all waiting handlers dead letters.
    package func buryAll(_ reason: String) throws {
        let ids = try step.database.statement("SELECT id FROM timer WHERE account = ?").all([account]) { $0.integer() }
        for id in ids { if let handler = try claim(id) { try HandlerInvoker(step: step).bury(handler, reason) } }
    }

    private func claim(_ id: Int64) throws -> ClaimedHandler? {
        try step.database.statement("DELETE FROM timer WHERE account = ? AND id = ? RETURNING handler, crashes")
            .first([account, .integer(id)]) {
                ClaimedHandler(origin: .timer, id: "\(id)", bytes: $0.blob("handler"), crashes: $0.integer("crashes"))
            }
    }
}
