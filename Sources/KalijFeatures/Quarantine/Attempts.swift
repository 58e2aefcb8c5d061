import KalijSteps
import KalijStore
import KalijStream

/// Counts the attempts to handle a redelivered stanza. A stanza that kills the process each time is set aside at the
/// third attempt.
package struct Attempts {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) {
        self.runner = runner
        self.account = account
    }

    /// The attempt at which a stanza is set aside unprocessed.
    package static let last = 3

    /// Commits that a stanza is about to be handled; `count` is the handled count after the stanza. Returns the number
    /// of the attempt.
    package func begin(_ count: HandledCount) throws -> Int {
        var attempts = 0
        _ = try runner.run("attempt", for: account) { step in
            attempts = Int(
                try step.database.statement(
                    """
                    INSERT INTO attempt SELECT account, number, ?2, 1 FROM session WHERE account = ?1
                    ON CONFLICT (account) DO UPDATE SET
                        attempts = CASE WHEN attempt.session = excluded.session AND attempt.count = excluded.count
                            THEN attempts + 1 ELSE 1 END,
                        session = excluded.session, count = excluded.count
                    RETURNING attempts
                    """
                ).first([.integer(account.id), .integer(Int64(count.value))]) { $0.integer() } ?? 1)
        }
        return attempts
    }

    /// Takes the last attempt back, because the machine was to blame. False if the machine did not allow the write
    /// either.
    package func takeBack() -> Bool {
        do {
            _ = try runner.run("attempt", for: account) { step in
                try step.database.run(
                    "UPDATE attempt SET attempts = max(0, attempts - 1) WHERE account = ?", [.integer(account.id)])
            }
            return true
        } catch {
            return false
        }
    }
}
