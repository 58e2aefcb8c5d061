import KalijStore

/// The intents of a step. The first execution of an intent creates a row, which prevents a second execution.
package struct Intents {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// Performs an intent, unless one with the same id was performed before.
    /// - Returns: the outcome; pending if it is not determined yet.
    package func perform(_ intent: some Intent, id: String) throws -> IntentOutcome {
        guard !type(of: intent).isIdempotent else {
            let outcome = try outcome(of: intent, id: id)
            if outcome != .pending { emitOutcome(id, type(of: intent).name, outcome) }
            return outcome.inWords
        }
        try database.run(
            "INSERT OR IGNORE INTO intent(account, id, name, at) VALUES (?, ?, ?, ?)",
            [account, .text(id), .text(type(of: intent).name), .integer(step.now)])
        guard database.changes > 0 else { return try Self.outcome(of: id, by: step.account, in: database) ?? .pending }
        try forgetOld()
        let outcome = try outcome(of: intent, id: id)
        if outcome != .pending { try end(id, outcome) }
        return outcome.inWords
    }

    private func outcome(of intent: some Intent, id: String) throws -> IntentOutcome {
        var outcome = IntentOutcome.pending
        do {
            try step.undoable { outcome = try intent.perform(id, in: step) }
        } catch let error as StoreError {
            throw error
        } catch {
            outcome = .failed((error as? IntentFailure)?.reason ?? Reason(other: "\(error)"))
        }
        return outcome
    }

    /// Records the outcome of an intent, and emits an event. Later outcomes are ignored.
    package func end(_ id: String, _ outcome: IntentOutcome) throws {
        guard outcome != .pending else { return }
        let name = try database.statement(
            "UPDATE intent SET problem = ? WHERE account = ? AND id = ? AND problem IS NULL RETURNING name"
        ).first([.text(outcome.problem ?? ""), account, .text(id)]) { $0.text("name") }
        if let name { emitOutcome(id, name, outcome) }
    }

    private func emitOutcome(_ id: String, _ name: String, _ outcome: IntentOutcome) {
        step.emit(IntentEnded(id: id, command: name, problem: outcome.inWords.problem))
    }

    /// The outcome of the intent with `id`; nil if the intent was not performed yet.
    package static func outcome(of id: String, by account: Account, in database: Database) throws -> IntentOutcome? {
        try stored(id, by: account, in: database)?.inWords
    }

    /// Why the intent with `id` has failed; nil if it has not, or not yet.
    package static func failure(of id: String, by account: Account, in database: Database) throws -> Reason? {
        try stored(id, by: account, in: database)?.problem.map(Reason.init(stored:))
    }

    private static func stored(_ id: String, by account: Account, in database: Database) throws -> IntentOutcome? {
        try database.statement("SELECT problem FROM intent WHERE account = ? AND id = ?")
            .first([.integer(account.id), .text(id)]) { row in
                switch row.optionalText("problem") {
                case nil: .pending
                case ""?: .done
                case let problem?: .failed(problem)
                }
            }
    }

    private func forgetOld() throws {
        try database.run(
            """
            DELETE FROM intent WHERE account = ?1 AND problem IS NOT NULL
                AND number <= (SELECT max(number) FROM intent WHERE account = ?1) - ?2
            """, [account, .integer(EngineLimits.keptRows)])
    }
}

extension IntentOutcome {
    /// A failure for a reason whose code is stored with the outcome.
    package static func failed(_ reason: Reason) -> IntentOutcome { .failed(reason.stored) }

    /// The outcome with the reason in words alone.
    fileprivate var inWords: IntentOutcome { problem.map { .failed(Reason(stored: $0).description) } ?? self }

    /// The reason why the intent has failed; nil if it has not.
    fileprivate var problem: String? {
        guard case .failed(let reason) = self, !reason.isEmpty else { return nil }
        return reason
    }
}
