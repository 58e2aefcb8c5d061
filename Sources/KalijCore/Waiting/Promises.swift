import KalijHandlers
import KalijStore

/// The promises of an account as rows, with their waiting handlers.
package struct Promises {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// How long a settled promise is kept for late readers, in milliseconds.
    private static let kept: Int64 = 24 * 3600 * 1000

    package func make(within milliseconds: Int64) throws -> Int64 {
        let deadline = SteadyTime.sum(step.steady.now, max(0, milliseconds))
        try database.run(
            "INSERT INTO promise(account, until) VALUES (?, ?)", [account, .integer(deadline)])
        let id = database.lastInsertedRow
        try step.await(timer: deadline)
        return id
    }

    /// Settles a promise; false if the promise is settled already, or was deleted. Waiting handlers are called at the end of the step.
    package func settle(_ id: Int64, _ outcome: StoredOutcome) throws -> Bool {
        let stored = try outcome.stored
        try database.run(
            "UPDATE promise SET result = ?, until = ? WHERE account = ? AND id = ? AND result IS NULL",
            [.blob(stored.canonicalBytes), .integer(SteadyTime.sum(step.steady.now, Self.kept)), account, .integer(id)])
        guard database.changes > 0 else { return false }
        step.settled(id, stored)
        return true
    }

    /// Registers `handler` to wait for a promise. If the promise is settled already, the handler is called at the end of the step.
    package func wait(for id: Int64, _ handler: StoredHandler, next: Int64? = nil) throws {
        let known = try database.statement("SELECT result IS NOT NULL FROM promise WHERE account = ? AND id = ?")
            .first([account, .integer(id)]) { $0.bool() }
        try database.run(
            "INSERT INTO waiter(account, promise, next, name, handler) VALUES (?, ?, ?, ?, ?)",
            [account, .integer(id), .optional(next), .text(handler.name), .blob(handler.bytes)])
        if known != false { step.deliver(id) }
    }

    /// Calls all handlers that wait for a settled promise, or for a missing promise.
    package func deliver(_ id: Int64) throws {
        let result = try result(id)
        while let waiter = try claimWaiter(id) {
            let outcome = try result ?? StoredOutcome.rejected(.forgotten).stored
            guard let next = waiter.next else {
                try HandlerInvoker(step: step).callAlone(waiter.handler, outcome)
                continue
            }
            let letters = step.effects.deadLetters
            try HandlerInvoker(step: step).callAlone(waiter.handler, StoredValue.list([outcome, .integer(next)]))
            // Nothing else would settle the end of the chain.
            if step.effects.deadLetters > letters { _ = try settle(next, .rejected(.deadLetter)) }
        }
    }

    /// The stored outcome of a promise; nil if there is none.
    package func result(_ id: Int64) throws -> StoredValue? {
        let bytes =
            try database.statement("SELECT result FROM promise WHERE account = ? AND id = ?")
            .first([account, .integer(id)]) { $0.optionalBlob() } ?? nil
        return bytes.flatMap { StoredValue(canonical: $0) }
    }

    /// The stored outcome of a promise of any account; a rejection with `forgotten` if the promise was deleted, nil if it is pending.
    package static func outcome(of id: Int64, in database: Database) throws -> StoredValue? {
        let bytes = try database.statement("SELECT result FROM promise WHERE id = ?")
            .first([.integer(id)]) { $0.optionalBlob() }
        guard let bytes else { return try StoredOutcome.rejected(.forgotten).stored }
        return bytes.flatMap { StoredValue(canonical: $0) }
    }

    private func claimWaiter(_ id: Int64) throws -> (handler: ClaimedHandler, next: Int64?)? {
        let row = try database.statement("SELECT id FROM waiter WHERE account = ? AND promise = ? ORDER BY id LIMIT 1")
            .first([account, .integer(id)]) { $0.integer() }
        guard let row else { return nil }
        return try database.statement("DELETE FROM waiter WHERE id = ? RETURNING handler, next, crashes")
            .first([.integer(row)]) {
                let handler = ClaimedHandler(
                    origin: .promise, id: "\(row)", bytes: $0.blob("handler"), crashes: $0.integer("crashes"))
                return (handler, $0.optionalInteger("next"))
            }
    }

    // MARK: Due promises

    /// The deadline of the next promise that is not settled; nil if there is none.
    package static func nextDeadline(of account: Int64, in database: Database) throws -> Int64? {
        try database.statement("SELECT min(until) FROM promise WHERE account = ? AND result IS NULL")
            .first([.integer(account)]) { $0.optionalInteger() } ?? nil
    }

    /// Rejects the pending promise with the earliest expired deadline; false if there is none.
    package func expireNext() throws -> Bool {
        let due = try database.statement(
            "SELECT id FROM promise WHERE account = ? AND until <= ? AND result IS NULL ORDER BY until LIMIT 1"
        ).first([account, .integer(step.steady.now)]) { $0.integer() }
        guard let due else { return false }
        return try settle(due, .rejected(.timeout))
    }

    /// Calls handlers of a promise that was settled by a process without handlers; false if there are none.
    package func deliverNext() throws -> Bool {
        let id = try database.statement(
            """
            SELECT w.promise FROM waiter w LEFT JOIN promise p ON p.id = w.promise
            WHERE w.account = ? AND (p.id IS NULL OR p.result IS NOT NULL) LIMIT 1
            """
        ).first([account]) { $0.integer() }
        guard let id else { return false }
        step.deliver(id)
        return true
    }

    /// Deletes promises that were settled a day ago.
    package func sweep() throws {
        try database.run(
            "DELETE FROM promise WHERE account = ? AND until <= ? AND result IS NOT NULL",
            [account, .integer(step.steady.now)])
    }

    package func rejectAll(_ reason: Invalidation) throws {
        let ids = try database.statement("SELECT id FROM promise WHERE account = ? AND result IS NULL ORDER BY id")
            .all([account]) { $0.integer() }
        for id in ids { _ = try settle(id, .rejected(Rejection(reason.name))) }
    }
}

/// Settles a promise with the outcome of another promise.
package struct ForwardPromise: Handler {
    package static let name = "promise.followed"
    package let follower: Int64

    package func call(_ outcome: StoredOutcome, in step: Step) throws {
        _ = try Promises(step: step).settle(follower, outcome)
    }
}
